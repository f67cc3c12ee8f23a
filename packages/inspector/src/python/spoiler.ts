import type { BrokenStatement } from './ast.ts'

/**
 * The statement to leave out so that what comes after it can be read: of the longest broken part the first line, and
 * those after it that are indented deeper. Undefined if that is all of it.
 */
export const findSpoiler = (
  lines: string[],
  broken: BrokenStatement[],
): BrokenStatement | undefined => {
  const [longest] = broken.toSorted((a, b) => b.endLine - b.line - (a.endLine - a.line))
  if (!longest) return undefined
  const indent = indentOf(lines[longest.line - 1] ?? '')
  let endLine = longest.line
  while (endLine < longest.endLine && isDeeper(lines[endLine] ?? '', indent)) endLine += 1
  return endLine < longest.endLine ? { line: longest.line, endLine } : undefined
}

const indentOf = (line: string): number => line.search(/\S|$/)

const isDeeper = (line: string, indent: number): boolean =>
  line.trim() === '' || indentOf(line) > indent

/** The text with blanks in these lines. */
export const blankLines = (
  text: string,
  lines: string[],
  { line, endLine }: BrokenStatement,
): string => {
  let start = 0
  for (let index = 0; index < line - 1; index += 1) start += (lines[index] ?? '').length + 1
  let end = start
  for (let index = line - 1; index < endLine; index += 1) end += (lines[index] ?? '').length + 1
  return text.slice(0, start) + text.slice(start, end).replace(/[^\n]/g, ' ') + text.slice(end)
}

/** By line; those that overlap, as a statement and one within it, are one. */
export const orderBroken = (broken: BrokenStatement[]): BrokenStatement[] => {
  const ordered: BrokenStatement[] = []
  for (const { line, endLine } of broken.toSorted((a, b) => a.line - b.line)) {
    const last = ordered.at(-1)
    if (last && line <= last.endLine) last.endLine = Math.max(last.endLine, endLine)
    else ordered.push({ line, endLine })
  }
  return ordered
}
