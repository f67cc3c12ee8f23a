import type { Script } from './script.ts'
import { isMark, textAt } from './tokens.ts'

/** Characters of a name of a host node. */
export const NAME_MAX = 512
/** Names within names: constants are seldom made of constants. */
const DEPTH_MAX = 12
/** Parts of values that are looked at in all scripts together. */
const STEPS_MAX = 200_000

/** Marks behind a whole value. */
const ENDS = ',;)}]'

/** A value, and the place behind it. */
interface Read {
  text: string | undefined
  end: number
}

interface Scope {
  depth: number
  /** The parameter of the function whose result is made, with its value. */
  given?: { name: string; text: string | undefined }
}

/** Reads dotted names. */
const readPath = (script: Script, start: number): { path: string; end: number } => {
  let end = start + 1
  while (isMark(script.tokens, end, '.') && script.tokens[end + 1]?.kind === 'name') end += 2
  const names = script.tokens.slice(start, end).map(({ text }) => text)
  return { path: names.join(''), end }
}

/**
 * Makes the reader of texts of scripts: a text, a constant, a member of an object or class, their sums, and what a function of one
 * parameter makes of one. A name that the script does not give is that of any other script, as an import would have it.
 */
export const makeTextReader = (scripts: readonly Script[]) => {
  let steps = STEPS_MAX
  const owners = new Map<string, Script[]>()
  for (const script of scripts)
    for (const name of [...script.values.keys(), ...script.functions.keys()])
      owners.set(name, [...(owners.get(name) ?? []), script])

  /** Reads a sum, and nothing where it goes on as something else. */
  const readSum = (script: Script, start: number, scope: Scope): Read => {
    let { text, end } = readPart(script, start, scope)
    while (isMark(script.tokens, end, '+')) {
      const next = readPart(script, end + 1, scope)
      text = text === undefined || next.text === undefined ? undefined : text + next.text
      end = next.end
      if (steps < 0 || (text?.length ?? 0) > NAME_MAX) return { text: undefined, end }
    }
    const isWhole = script.tokens[end]?.kind !== 'mark' || ENDS.includes(textAt(script.tokens, end))
    return { text: isWhole ? text : undefined, end }
  }

  const readPart = (script: Script, at: number, scope: Scope): Read => {
    const token = script.tokens[at]
    if ((steps -= 1) < 0 || scope.depth > DEPTH_MAX) return { text: undefined, end: at + 1 }
    if (token?.kind === 'text') return { text: token.text, end: at + 1 }
    const deeper = { ...scope, depth: scope.depth + 1 }
    if (isMark(script.tokens, at, '(')) {
      const { text, end } = readSum(script, at + 1, deeper)
      return { text: isMark(script.tokens, end, ')') ? text : undefined, end: end + 1 }
    }
    if (token?.kind !== 'name') return { text: undefined, end: at + 1 }
    const { path, end } = readPath(script, at)
    if (path === scope.given?.name) return { text: scope.given.text, end }
    if (!isMark(script.tokens, end, '(')) return { text: resolve(script, path, deeper), end }
    const argument = readSum(script, end + 1, deeper)
    const found = findOwner(script, path, 'functions')
    const called = found?.functions.get(path)
    const isCall = called !== undefined && isMark(script.tokens, argument.end, ')')
    const given = called && { name: called.parameter, text: argument.text }
    const text =
      isCall && given ? readSum(found as Script, called.at, { ...deeper, given }).text : undefined
    return { text, end: argument.end + 1 }
  }

  const findOwner = (script: Script, name: string, kind: 'values' | 'functions') =>
    script[kind].has(name) ? script : owners.get(name)?.find((one) => one[kind].has(name))

  /** The text of a name; none where it has several, or is another name for something else. */
  const resolve = (script: Script, path: string, scope: Scope): string | undefined => {
    if ((steps -= 1) < 0 || scope.depth > DEPTH_MAX) return undefined
    const inner = { depth: scope.depth + 1 }
    const owner = findOwner(script, path, 'values')
    if (owner) {
      const texts = (owner.values.get(path) ?? []).map((at) => readSum(owner, at, inner).text)
      return new Set(texts).size === 1 ? texts[0] : undefined
    }
    const [head = '', ...members] = path.split('.')
    const [alias] = script.values.get(head) ?? []
    if (members.length === 0 || alias === undefined || script.tokens[alias]?.kind !== 'name')
      return undefined
    return resolve(script, [readPath(script, alias).path, ...members].join('.'), inner)
  }

  return {
    /** The text that begins at a place of a script. */
    read: (script: Script, at: number): string | undefined =>
      readSum(script, at, { depth: 0 }).text,
    /** The text of a name in a script. */
    resolve: (script: Script, path: string): string | undefined =>
      resolve(script, path, { depth: 0 }),
  }
}
