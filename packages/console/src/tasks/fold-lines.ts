import type { BulkLine } from './bulk-queries.ts'

/** A line of results, and those after it that ended with the same error. */
export type FoldedLine = BulkLine & { others?: readonly BulkLine[] }

/** Folds lines whose state and error are equal to one, at the place of the first. */
export const foldLines = (lines: readonly BulkLine[]): FoldedLine[] => {
  const groups = new Map<string, BulkLine[]>()
  for (const line of lines) {
    const key = JSON.stringify([line.state, line.error])
    const group = groups.get(key)
    if (group) group.push(line)
    else groups.set(key, [line])
  }
  return [...groups.values()].map(([first, ...others]) => ({ ...(first as BulkLine), others }))
}
