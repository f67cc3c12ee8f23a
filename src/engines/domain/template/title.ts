import { distance } from 'fastest-levenshtein'

import type { GraphNode } from './graph.ts'

const MARK = 'kiln'
const START = /^\s*kiln:/
/** A word with a colon behind it, or with what people take for one. */
const WORD = /^\s*([a-z]+)(\s*[:\uFE13\uFE55\uFF1A;\u2236]\s*)(.*)$/isu

/** A mark, as a title has it. */
export interface Given {
  name: string
  divisor: number
  input: string | undefined
}

/** Reads the marks of a title such as `kiln:light_transfer_strength/100=blend_factor, seed`. */
export const readTitle = ({ title }: GraphNode): Given[] =>
  (START.test(title) ? title.replace(START, '') : '')
    .split(',')
    .map((mark) => mark.trim())
    .filter((mark) => mark !== '')
    .map((mark) => {
      const [, name = '', divisor = '1', input] =
        /^([^/=]*)(?:\/([^=]*))?(?:=(.*))?$/.exec(mark) ?? []
      return { name: name.trim(), divisor: Number(divisor), input: input?.trim() }
    })

/** Says how a title must be written that looks like a mark and is none; undefined of all others. */
export const titleIssue = ({ title }: GraphNode): string | undefined => {
  const [, prefix = '', colon = '', rest = ''] = WORD.exec(title) ?? []
  const word = prefix.toLowerCase()
  if (!isMisspelt(word) && (word !== MARK || START.test(title))) return undefined
  const written = word === MARK ? JSON.stringify(prefix + colon.trimEnd()) : prefix
  return `${written} marks nothing; did you mean kiln:${rest}?`
}

/** Says how a title must be written that seems to mean a mark, and may be a title like any other. */
export const lostMark = ({ title }: GraphNode): string | undefined => {
  const [, name] = /^\s*kiln(?:\W|_)+(\w.*)$/i.exec(title) ?? /\bkiln:\s*(.+)$/i.exec(title) ?? []
  return name === undefined || START.test(title)
    ? undefined
    : `the title marks nothing; did you mean kiln:${name}?`
}

/** True of a word with one letter that is another, too many or missing, or with the same letters in another order. */
const isMisspelt = (word: string): boolean =>
  word !== MARK && (distance(word, MARK) === 1 || [...word].toSorted().join('') === 'ikln')
