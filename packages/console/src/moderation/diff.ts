import { structuredPatch } from 'diff'

type Files = readonly { path: string; sha256: string }[]

export type FileChange = { path: string; kind: 'added' | 'removed' | 'changed' }

/** The files that are not the same in two versions, by path. */
export const changedFiles = (before: Files, after: Files): FileChange[] => {
  const old = new Map(before.map(({ path, sha256 }) => [path, sha256]))
  const now = new Map(after.map(({ path, sha256 }) => [path, sha256]))
  return [...new Map([...old, ...now]).keys()]
    .filter((path) => old.get(path) !== now.get(path))
    .toSorted()
    .map((path) => {
      if (!old.has(path)) return { path, kind: 'added' }
      return { path, kind: now.has(path) ? 'changed' : 'removed' }
    })
}

type DiffLine = { kind: 'added' | 'removed' | 'same' | 'gap'; number: number; text: string }

/** Changed lines beyond which a comparison takes seconds, and nobody reads it. */
const MAX_CHANGES = 3000

/** The lines that changed, by their numbers in the version after or, of removed ones, before, with three around each; undefined where nearly all did. */
export const diffLines = (before: string, after: string): DiffLine[] | undefined => {
  const options = { context: 3, maxEditLength: MAX_CHANGES }
  const patch = structuredPatch('', '', before, after, '', '', options)
  return patch?.hunks.flatMap(({ oldStart, newStart, lines }, index) => {
    let old = oldStart
    let now = newStart
    const gap: DiffLine[] = index === 0 ? [] : [{ kind: 'gap', number: now, text: '' }]
    return gap.concat(
      lines.flatMap((line): DiffLine[] => {
        const text = line.slice(1).replace(/\r$/, '')
        if (line.startsWith('\\')) return []
        if (line.startsWith('-')) return [{ kind: 'removed', number: old++, text }]
        if (line.startsWith('+')) return [{ kind: 'added', number: now++, text }]
        old += 1
        return [{ kind: 'same', number: now++, text }]
      }),
    )
  })
}
