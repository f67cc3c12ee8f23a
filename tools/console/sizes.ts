import { gzipSync } from 'node:zlib'

import type { Rolldown } from 'vite'

/**
 * kB (1000 bytes) of what is sent, gzipped, that a first load, what most other pages share and a lazy page may have; its
 * styles are those of all pages.
 */
const MAX = { script: 200, style: 20, parts: 50, page: 45 }

/** Chunk that a page loads before all others. */
export const FIRST = 'first'

/** Chunks of fields, menus, dialogs and tables: the second page loads them, and others have them then. */
const PARTS = ['search', 'parts']

/** Throws when the console is too heavy; returns kB of what the first load has. */
export const checkSizes = (
  output: readonly (Rolldown.OutputChunk | Rolldown.OutputAsset)[],
): { script: number; style: number } => {
  const chunks = new Map(
    output.flatMap((file) => (file.type === 'chunk' ? [[file.fileName, file] as const] : [])),
  )
  const first = new Set<string>()
  for (const { name, fileName } of chunks.values())
    if (name === FIRST) collect(chunks, fileName, first)
  if (first.size === 0) throw new Error(`the console has no chunk ${FIRST}`)
  const shared = new Set(first)
  for (const { name, fileName } of chunks.values())
    if (PARTS.includes(name)) collect(chunks, fileName, shared)
  const weigh = (names: Iterable<string>): number =>
    [...names].reduce((sum, name) => sum + kBOf(chunks.get(name)?.code ?? ''), 0)
  const styles = output.filter(({ fileName }) => fileName.endsWith('.css'))
  const sizes = {
    script: weigh(first),
    style: styles.reduce((sum, file) => sum + kBOf('source' in file ? file.source : ''), 0),
  }
  const issues = [
    ...validate('the first load has script of', sizes.script, MAX.script),
    ...validate('the first load has styles of', sizes.style, MAX.style),
    ...validate('what pages share has script of', weigh(shared) - sizes.script, MAX.parts),
    ...[...chunks.values()].flatMap((chunk) => {
      if (!chunk.isDynamicEntry || !chunk.facadeModuleId?.endsWith('.tsx')) return []
      const own = collect(chunks, chunk.fileName, new Set(shared))
      for (const name of shared) own.delete(name)
      return validate(`${chunk.name} has script of`, weigh(own), MAX.page)
    }),
  ]
  if (issues.length > 0) throw new Error(`the console is too heavy: ${issues.join('; ')}`)
  return sizes
}

const collect = (
  chunks: ReadonlyMap<string, Rolldown.OutputChunk>,
  name: string,
  found: Set<string>,
): Set<string> => {
  if (found.has(name)) return found
  found.add(name)
  for (const imported of chunks.get(name)?.imports ?? []) collect(chunks, imported, found)
  return found
}

const kBOf = (source: string | Uint8Array): number => gzipSync(source).length / 1000

const validate = (what: string, size: number, max: number): string[] =>
  size <= max ? [] : [`${what} ${size.toFixed(1)} kB, more than ${max}`]
