import { isMark, readTokens, textAt, type Token } from './tokens.ts'

/** A function of one parameter whose result may be a text. */
interface TextFunction {
  parameter: string
  /** Place of what it returns. */
  at: number
}

/** A script with what it gives names to; nothing of it is run. */
export interface Script {
  tokens: readonly Token[]
  /** Places of values by their names: `NAME`, and `Class.member` of classes and objects. */
  values: ReadonlyMap<string, readonly number[]>
  functions: ReadonlyMap<string, TextFunction>
}

/** Values of one name that are kept: more are no name of anything. */
const SAME_MAX = 4
/** Tokens of an object whose members are names. */
const OBJECT_MAX = 2_000

/** Reads the names of a script, wherever in it they are given. */
export const readScript = (source: string): Script => {
  const tokens = readTokens(source)
  const values = new Map<string, number[]>()
  const functions = new Map<string, TextFunction>()
  const define = (name: string, at: number): void => {
    const places = values.get(name) ?? []
    if (places.length < SAME_MAX) values.set(name, [...places, at])
  }
  const isName = (at: number): boolean => tokens[at]?.kind === 'name'
  const isMarked = (at: number, marks: string): boolean =>
    [...marks].every((mark, index) => isMark(tokens, at + index, mark))
  /** True for the sign of an assignment, and not of a comparison or an arrow. */
  const isAssigned = (at: number): boolean =>
    isMarked(at, '=') && !isMarked(at + 1, '=') && !isMarked(at + 1, '>')
  let className = ''
  for (let at = 0; at < tokens.length; at += 1) {
    if (!isName(at)) continue
    const text = textAt(tokens, at)
    if (text === 'class' && isName(at + 1))
      className = textAt(tokens, textAt(tokens, at + 1) === 'extends' ? at - 2 : at + 1)
    if (text === 'function' && isName(at + 1) && isMarked(at + 2, '(') && isName(at + 3))
      if (isMarked(at + 4, '){') && textAt(tokens, at + 6) === 'return')
        functions.set(textAt(tokens, at + 1), { parameter: textAt(tokens, at + 3), at: at + 7 })
    if (text === 'static' && isName(at + 1) && isAssigned(at + 2))
      define(`${className}.${textAt(tokens, at + 1)}`, at + 3)
    const isMember = isMarked(at + 1, '.') && isName(at + 2) && isAssigned(at + 3)
    if (isMember && text !== 'this' && !isMarked(at - 1, '.'))
      define(`${text}.${textAt(tokens, at + 2)}`, at + 4)
    const isDeclared = /^(const|let|var)$/.test(textAt(tokens, at - 1)) || isMarked(at - 1, ',')
    if (!isDeclared || !isAssigned(at + 1)) continue
    define(text, at + 2)
    const arrow = findArrow(at + 2)
    if (arrow) functions.set(text, arrow)
    if (isMarked(at + 2, '{')) defineMembers(text, at + 3)
  }
  return { tokens, values, functions }

  function findArrow(at: number): TextFunction | undefined {
    const isBare = isName(at) && isMarked(at + 1, '=>')
    const isInBrackets = isMarked(at, '(') && isName(at + 1) && isMarked(at + 2, ')=>')
    if (!isBare && !isInBrackets) return undefined
    const body = at + (isBare ? 3 : 5)
    const returns = isMarked(body, '{') && textAt(tokens, body + 1) === 'return'
    return { parameter: textAt(tokens, isBare ? at : at + 1), at: returns ? body + 2 : body }
  }

  function defineMembers(name: string, start: number): void {
    let depth = 1
    const end = Math.min(tokens.length, start + OBJECT_MAX)
    for (let at = start; at < end && depth > 0; at += 1) {
      if (tokens[at]?.kind === 'mark') depth += DEPTHS[textAt(tokens, at)] ?? 0
      const isKey = depth === 1 && !isMarked(at, '?') && isMarked(at + 1, ':')
      if (isKey && tokens[at]?.kind !== 'mark') define(`${name}.${textAt(tokens, at)}`, at + 2)
    }
  }
}

const DEPTHS: Readonly<Record<string, number>> = {
  '{': 1,
  '(': 1,
  '[': 1,
  '}': -1,
  ')': -1,
  ']': -1,
}
