import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { blocksOf, mappedIn } from './mapped-names.ts'
import type { Reading } from './reader.ts'

/** A pack as the names of its host nodes are looked for. */
export interface Pack {
  folder: string
  /** Paths of the files that will be published. */
  paths: readonly string[]
  /** Undefined where the reader is not around. */
  reading: Reading | undefined
}

/** Names of host nodes, each with what it does or with the file that suggests it. */
export type Names = Map<string, { description?: string; file?: string }>

/** Lists the names that evaluation saw or that mappings have, and of other files those of classes that look like nodes. */
export const draftNodeList = async ({ folder, paths, reading }: Pack): Promise<Names> => {
  const isScanned = reading?.how === 'literal_scan'
  const names: Names = new Map()
  if (isScanned) for (const name of Object.keys(reading.nodes)) names.set(name, {})
  const packs = paths.flatMap((path) => PACK.exec(path)?.[0] ?? [])
  const sources = new Map<string, string>()
  for (const path of paths.filter((path) => path.endsWith('.py') && !ASIDE.test(path)))
    sources.set(path, await readFile(join(folder, path), 'utf8'))
  // A mapping that was read has no other names; nor have the files that it stands before.
  const isRead = (path: string): boolean =>
    isScanned && path !== '__init__.py' && MAPPING.test(sources.get(path) ?? '')
  const isMapped = (path: string): boolean => isRead(path) || mappedIn(sources.get(path)).length > 0
  for (const [path, source] of sources) {
    const inits = [...path.matchAll(/\//g)].map(
      ({ index }) => `${path.slice(0, index)}/__init__.py`,
    )
    const isOther = packs.some((folder) => path.startsWith(folder))
    if (isRead(path) || isOther || inits.some((init) => init !== path && isMapped(init))) continue
    for (const name of isMapped(path) ? mappedIn(source) : classesIn(source))
      names.set(name, { file: path })
  }
  return names
}

/** Files that show how nodes are used or tested, or that another pack has brought. */
const ASIDE =
  /(^|\/)((tests?|testing|docs?|examples?|samples?|vendor(ed)?|third.?party|custom_nodes)([_-][^/]*)?\/|(tests?|examples?|conftest|setup|install)(_[^/]*)?\.py$|[^/]*_test\.py$)/i

/** A folder that is a pack of its own. */
const PACK = /^.+\/(?=(pyproject\.toml|setup\.py|node_list\.json)$)/

const MAPPING = /\bNODE_CLASS_MAPPINGS\b/

/** Lists, of each class at the top of a file, the id of its schema, or its name if it has the older form. */
const classesIn = (source: string): string[] =>
  blocksOf(source).flatMap((block) => {
    const name = /^class\s+(\w+)/.exec(block)?.[1]
    const id = /\bnode_id\s*=\s*(["'])(.+?)\1/.exec(block)?.[2]
    if (name === undefined) return []
    return id ?? (/\bdef\s+INPUT_TYPES\b/.test(block) ? name : [])
  })
