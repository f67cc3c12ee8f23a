import type { BulkLine } from './types.ts'

/** A line of results, and those after it that ended alike. */
export type FoldedLine = BulkLine & { others?: readonly BulkLine[] }

/** Texts without what was given, which differs from line to line. */
const withoutValue = (_name: string, value: unknown): unknown =>
  typeof value === 'string' ? value.replace(/, got .*$/s, '') : value

/** Folds lines whose state and error are equal, whatever was given, to one at the place of the first. */
export const foldLines = (lines: readonly BulkLine[]): FoldedLine[] => {
  const groups = new Map<string, BulkLine[]>()
  for (const line of lines) {
    const key = JSON.stringify([line.state, line.error], withoutValue)
    const group = groups.get(key)
    if (group) group.push(line)
    else groups.set(key, [line])
  }
  return [...groups.values()].map(([first, ...others]) => ({ ...(first as BulkLine), others }))
}
