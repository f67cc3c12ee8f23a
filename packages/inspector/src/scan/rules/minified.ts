import type { Hit } from '../hit.ts'
import type { SourceFile } from '../source/source-file.ts'

/** minified: a line above 5,000 characters that holds code, and not one literal. */
export const findMinified = (file: SourceFile): Hit[] =>
  file.module.text
    .split('\n')
    .flatMap((text, at) =>
      text.length > LONGEST_LINE && !isLiteral(text, at + 1, file)
        ? [{ rule: 'minified', path: file.path, line: at + 1 }]
        : [],
    )

const LONGEST_LINE = 5000

const isLiteral = (text: string, line: number, file: SourceFile): boolean =>
  codeShare(text) < MAX_CODE || isWithinText(text, line, file)

/**
 * The share of letters outside of strings and comments; `NAME = [` and the like are allowed for. A loop, because a pattern
 * for strings overflows its stack on a line of megabytes.
 */
const codeShare = (text: string): number => {
  let code = 0
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] ?? ''
    if (character === '#') break
    if (character === '"' || character === "'") at = endOfString(text, at)
    else if (/[A-Za-z_]/.test(character)) code += 1
  }
  return code / text.length
}

/** Index of the quote that ends the string which starts here; the last index if none does. */
const endOfString = (text: string, start: number): number => {
  let at = start + 1
  while (at < text.length && text[at] !== text[start]) at += text[at] === '\\' ? 2 : 1
  return at
}

const MAX_CODE = 0.1

/** A line of a string of several lines: its text holds the line. */
const isWithinText = (text: string, line: number, file: SourceFile): boolean => {
  const part = text.slice(100, 1100)
  const long = file.longTexts.filter((site) => site.line <= line)
  return long.some((site) => site.text.includes(part))
}
