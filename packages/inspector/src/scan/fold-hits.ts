import type { Hit } from './hit.ts'

/**
 * Keeps each hit once, and of one rule in one file the first `most` by line. One hit counts for the rest, so that a
 * hostile file of a million calls leaves no million findings.
 */
export const foldHits = (hits: Iterable<Hit>, most: number): Hit[] =>
  [...groupHits(hits).values()].flatMap((group) => {
    const all = [...group.values()].toSorted((left, right) => (left.line ?? 0) - (right.line ?? 0))
    const [next] = all.slice(most)
    return next
      ? [...all.slice(0, most), { ...next, line: undefined, times: all.length - most }]
      : all
  })

const groupHits = (hits: Iterable<Hit>): Map<string, Map<string, Hit>> => {
  const groups = new Map<string, Map<string, Hit>>()
  for (const hit of hits) {
    const key = `${hit.rule}\n${hit.path ?? ''}`
    const group = groups.get(key) ?? new Map<string, Hit>()
    group.set(`${hit.line ?? 0}\n${hit.detail ?? ''}`, hit)
    groups.set(key, group)
  }
  return groups
}
