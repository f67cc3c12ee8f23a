import type { Expression, Statement } from './ast.ts'

/**
 * The children of the node that is being built, on the one stack of the walk: entries `base` to `size`. Punctuation and
 * keywords are entries with a name and no value; comments are none. It is one object for the whole walk, valid for the
 * length of one call.
 */
export interface Children {
  names: string[]
  values: unknown[]
  lines: number[]
  base: number
  size: number
  /** 1-based, of the first child. */
  line: number
  parent: string
  grandparent: string
  text: string
  /** In `text`; set for strings and their parts alone. */
  start: number
  end: number
  /** The function body among the children has a `yield` of its own. */
  bodyYields: boolean
  /** Set by a builder: CPython rejects the node, whose meaning is clear all the same. */
  error: string | undefined
  /** Buffer in which arrays are gathered before they get their length. */
  readonly gathered: unknown[]
}

/** Makes the value of a node; `BROKEN` if no valid Python has such a node. */
export type Builder = (children: Children) => unknown
export type Builders = Record<string, Builder>

export const BROKEN = Symbol('broken')

export const count = (children: Children): number => children.size - children.base

export const nameAt = (children: Children, index: number): string =>
  children.names[children.base + index] ?? ''

export const valueAt = (children: Children, index: number): unknown =>
  children.values[children.base + index]

export const exprAt = (children: Children, index: number): Expression =>
  valueAt(children, index) as Expression

/** The expression at this place among the children. */
export const at =
  (index: number) =>
  (children: Children): Expression =>
    exprAt(children, index)

/** The first expression, if there is one. */
export const first = (children: Children): Expression | undefined => exprs(children)[0]

/** Makes the builder of a node whose fields are read one by one, in the order in which they are written. */
export const node = <T extends { kind: string; line: number }>(
  kind: T['kind'],
  fields: { [Name in keyof Omit<T, 'kind' | 'line'>]-?: (children: Children) => T[Name] },
): ((children: Children) => T) => {
  const readers = Object.entries<(children: Children) => unknown>(fields)
  return (children) => {
    const made: Record<string, unknown> = { kind, line: children.line }
    for (const [name, read] of readers) made[name] = read(children)
    return made as unknown as T
  }
}

/** Line of a child that is first or has a value; others have none. */
export const lineAt = (children: Children, index: number): number =>
  children.lines[children.base + index] || children.line

/** Index of the first child of this name at or after `from`, or -1. */
export const indexOf = (children: Children, name: string, from = 0): number => {
  for (let at = children.base + from; at < children.size; at += 1) {
    if (children.names[at] === name) return at - children.base
  }
  return -1
}

export const has = (children: Children, name: string): boolean => indexOf(children, name) >= 0

/**
 * Gathers what `read` makes of the values from child `from` up to child `to`, without punctuation and undefined. The
 * array has no room for more: one that grows by `push` keeps 17 places, which made a third of a tree's memory.
 */
export const gather = <T>(
  children: Children,
  read: (name: string, value: unknown) => T | undefined,
  from = 0,
  to = count(children),
): T[] => {
  const { gathered } = children
  let size = 0
  for (let at = children.base + from; at < children.base + to; at += 1) {
    const value = children.values[at]
    const item = value === undefined ? undefined : read(children.names[at] ?? '', value)
    if (item !== undefined) gathered[size++] = item
  }
  return gathered.slice(0, size) as T[]
}

/** The values from child `from` up to child `to`, punctuation left out. */
export const values = (children: Children, from = 0, to = count(children)): unknown[] => {
  const { gathered } = children
  let size = 0
  for (let at = children.base + from; at < children.base + to; at += 1) {
    const value = children.values[at]
    if (value !== undefined) gathered[size++] = value
  }
  return size === 1 ? [gathered[0]] : gathered.slice(0, size)
}

/** The expressions among the children. */
export const exprs = (children: Children, from?: number, to?: number): Expression[] =>
  values(children, from, to) as Expression[]

/** A name that is given twice. */
export const repeated = (names: string[]): string | undefined =>
  new Set(names).size < names.length
    ? names.find((name, index) => names.indexOf(name) < index)
    : undefined

/** The values of all children of this name. */
export const findAll = (
  children: Children,
  wanted: string,
  from?: number,
  to?: number,
): unknown[] => gather(children, (name, value) => (name === wanted ? value : undefined), from, to)

/** The value of the first child of this name. */
export const find = (children: Children, name: string): unknown => {
  const index = indexOf(children, name)
  return index < 0 ? undefined : valueAt(children, index)
}

/** Returns the value after the first child of this name (a keyword as `from` or `=`). */
export const after = (children: Children, name: string): unknown => {
  const index = indexOf(children, name)
  return index < 0 || index + 1 >= count(children) ? undefined : valueAt(children, index + 1)
}

export const block = (children: Children): Statement[] =>
  (find(children, 'block') ?? []) as Statement[]
