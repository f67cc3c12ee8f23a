import { WHITESPACE } from './string/classes.ts'
import { lengthOf } from './string/code-points.ts'
import { expandTabs } from './string/build.ts'
import { stripStart } from './string/strip.ts'

const ONLY_SPACE = new RegExp(`^[${WHITESPACE}]*$`)

/** `inspect.cleandoc(text)`: the margin common to all lines but the first goes, and empty lines at both ends. */
export const cleanDocstring = (text: string): string | undefined => {
  const expanded = expandTabs(text)
  if (expanded === undefined) return undefined
  const [first = '', ...others] = expanded.split('\n')
  const margin = marginOf(others)
  const lines = [stripStart(first), ...others.map((line) => line.slice(margin))]
  const start = lines.findIndex((line) => line !== '')
  const end = lines.findLastIndex((line) => line !== '')
  return start < 0 ? '' : lines.slice(start, end + 1).join('\n')
}

/** `textwrap.dedent(text)`: lines of white space only are emptied, and don't count for the margin. */
export const dedent = (text: string): string => {
  const lines = text.split('\n').map((line) => (/^[ \t]+$/.test(line) ? '' : line))
  const margins = lines.filter((line) => line !== '').map((line) => /^[ \t]*/.exec(line)?.[0] ?? '')
  const margin = margins.reduce(sharedStart, margins[0] ?? '')
  return lines.map((line) => (line === '' ? line : line.slice(margin.length))).join('\n')
}

/** `textwrap.indent(text, prefix)`: lines of white space only get none. */
export const indent = (text: string, prefix: string): string =>
  text
    .split(/(?<=\n)/)
    .map((line) => (ONLY_SPACE.test(line) ? line : prefix + line))
    .join('')

const marginOf = (lines: readonly string[]): number => {
  const margins = lines
    .filter((line) => !ONLY_SPACE.test(line))
    .map((line) => lengthOf(line) - lengthOf(stripStart(line)))
  return margins.length === 0 ? 0 : Math.min(...margins)
}

const sharedStart = (a: string, b: string): string => {
  let length = 0
  while (length < a.length && a[length] === b[length]) length += 1
  return a.slice(0, length)
}
