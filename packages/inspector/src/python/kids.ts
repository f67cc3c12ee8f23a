import type { BinaryOperator, Expression, Statement } from './ast.ts'

/**
 * The children of the node that is being built, on the one stack of the walk: entries `base` to `size`. Punctuation and
 * keywords are entries with a name and no value; comments are none. It is one object for the whole walk, valid for the
 * length of one call.
 */
export interface Kids {
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
  /** Where arrays are gathered before they get their length. */
  readonly gathered: unknown[]
}

/** Makes the value of a node; `BROKEN` if no valid Python has such a node. */
export type Builder = (kids: Kids) => unknown
export type Builders = Record<string, Builder>

export const BROKEN = Symbol('broken')

export const count = (kids: Kids): number => kids.size - kids.base

export const nameAt = (kids: Kids, index: number): string => kids.names[kids.base + index] ?? ''

export const valueAt = (kids: Kids, index: number): unknown => kids.values[kids.base + index]

export const exprAt = (kids: Kids, index: number): Expression => valueAt(kids, index) as Expression

/** Of a child that is first or has a value; others have none. */
export const lineAt = (kids: Kids, index: number): number =>
  kids.lines[kids.base + index] || kids.line

/** Index of the first child of this name at or after `from`, or -1. */
export const indexOf = (kids: Kids, name: string, from = 0): number => {
  for (let at = kids.base + from; at < kids.size; at += 1) {
    if (kids.names[at] === name) return at - kids.base
  }
  return -1
}

export const has = (kids: Kids, name: string): boolean => indexOf(kids, name) >= 0

/**
 * What `read` makes of the values from child `from` up to child `to`, punctuation and undefined left out. The array has no
 * room for more: one that grows by `push` keeps 17 places, which made a third of a tree's memory.
 */
export const gather = <T>(
  kids: Kids,
  read: (name: string, value: unknown) => T | undefined,
  from = 0,
  to = count(kids),
): T[] => {
  const { gathered } = kids
  let size = 0
  for (let at = kids.base + from; at < kids.base + to; at += 1) {
    const value = kids.values[at]
    const item = value === undefined ? undefined : read(kids.names[at] ?? '', value)
    if (item !== undefined) gathered[size++] = item
  }
  return gathered.slice(0, size) as T[]
}

/** The values from child `from` up to child `to`, punctuation left out. */
export const values = (kids: Kids, from = 0, to = count(kids)): unknown[] => {
  const { gathered } = kids
  let size = 0
  for (let at = kids.base + from; at < kids.base + to; at += 1) {
    const value = kids.values[at]
    if (value !== undefined) gathered[size++] = value
  }
  return size === 1 ? [gathered[0]] : gathered.slice(0, size)
}

/** The expressions among the children. */
export const exprs = (kids: Kids, from?: number, to?: number): Expression[] =>
  values(kids, from, to) as Expression[]

/** The values of all children of this name. */
export const findAll = (kids: Kids, wanted: string, from?: number, to?: number): unknown[] =>
  gather(kids, (name, value) => (name === wanted ? value : undefined), from, to)

/** The value of the first child of this name. */
export const find = (kids: Kids, name: string): unknown => {
  const index = indexOf(kids, name)
  return index < 0 ? undefined : valueAt(kids, index)
}

/** What follows the first child of this name (a keyword as `from` or `=`). */
export const after = (kids: Kids, name: string): unknown => {
  const index = indexOf(kids, name)
  return index < 0 || index + 1 >= count(kids) ? undefined : valueAt(kids, index + 1)
}

export const block = (kids: Kids): Statement[] => (find(kids, 'block') ?? []) as Statement[]

export const operatorAt = (kids: Kids, index: number): BinaryOperator =>
  nameAt(kids, index) as BinaryOperator
