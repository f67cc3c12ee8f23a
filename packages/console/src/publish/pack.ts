import {
  bad,
  checkPackFiles,
  warn,
  type Check,
  type Limits,
} from '../../../client/src/cli/check-pack.ts'
import type { Pack as CheckedPack } from '../../../client/src/cli/check-pack.ts'
import { whyLeftOut } from '../../../client/src/cli/left-out.ts'
import { listSome } from '../words/text.ts'
import { t } from '../words/translate.ts'

/** A file that was dropped, by its path from the top of the folder or zip. */
export type Entry = { path: string; bytes: number; read(): Promise<Blob> }

type LeftOut = { path: string; why: string }

/** Folder or zip that was dropped, as it will be published. */
export interface Pack extends CheckedPack {
  /** Name of the folder or zip. */
  name: string
  leftOut: LeftOut[]
  archive: Blob
}

/** Sorts out what no pack needs; of a folder that is left out, the folder alone is named. */
export const sortEntries = <Given extends { path: string }>(
  entries: readonly Given[],
): { kept: Given[]; leftOut: LeftOut[] } => {
  const leftOut = new Map<string, string>()
  const kept = entries.filter(({ path }) => {
    const segments = path.split('/')
    const at = segments.findIndex((name) => whyLeftOut(name) !== undefined)
    if (at === -1) return true
    leftOut.set(segments.slice(0, at + 1).join('/'), whyLeftOut(segments[at] ?? '') ?? '')
    return false
  })
  return {
    kept: kept.toSorted((one, other) => (one.path < other.path ? -1 : 1)),
    leftOut: [...leftOut].map(([path, why]) => ({ path, why })),
  }
}

/** Id of a pack by the name of its folder or zip. */
export const toId = (name = ''): string =>
  name
    .toLowerCase()
    .replace(/\.zip$/, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '') || 'my-pack'

const checkLeftOut = ({ leftOut }: Pack): Check[] => {
  const names = leftOut.map(({ path, why }) => `${path} (${why})`)
  return names.length === 0 ? [] : [warn(t('Left out: {names}', { names: listSome(names) }))]
}

/**
 * Finds what keeps a pack from being sent, and what may surprise. That all is well is only the service's to say, which reads
 * the code.
 */
export const checkPack = (pack: Pack, limits: Limits): Check[] =>
  pack.files.length === 0
    ? [bad(t('{name} has no file to publish.', { name: pack.name }))]
    : [...checkPackFiles(pack, limits).filter(({ tone }) => tone !== 'ok'), ...checkLeftOut(pack)]
