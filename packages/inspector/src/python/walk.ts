import type { Module, Statement } from './ast.ts'
import { plainString } from './build/strings.ts'
import { closeNode } from './close-node.ts'
import { closeError, mayRead } from './damage.ts'
import { ERROR, LEAF, SKIP, STRING, TOKEN } from './grammar.ts'
import type { NodeType } from './grammar.ts'
import { values } from './children.ts'
import type { Children } from './children.ts'
import { makeLineIndex } from './line-index.ts'
import { makeFrame, openNode } from './open-node.ts'
import { ParseCancelled } from './parse-cancelled.ts'
import { findLiteralHead } from './string-literal.ts'
import { goToFirstChild, goToNextSibling, goToParent, hasError } from './tree-cursor.ts'
import type { TreeCursor } from './tree-cursor.ts'
import { lineHere, pushChild } from './walk-state.ts'
import type { Walk } from './walk-state.ts'

const STEPS_BETWEEN_CHECKS = 8192

/**
 * Reads a syntax tree into plain statements. There is no recursion: children are built before their parents, on one
 * stack of values, so that no nesting of the source can overflow the stack of JavaScript.
 */
export const walkTree = (
  cursor: TreeCursor,
  text: string,
  types: NodeType[],
  isCancelled: () => boolean,
): Pick<Module, 'body' | 'broken' | 'cut'> => {
  const walk = startWalk(cursor, text, types)
  run(walk, isCancelled)
  walk.children.base = 0
  return { body: values(walk.children) as Statement[], broken: walk.broken, cut: walk.cut }
}

const startWalk = (cursor: TreeCursor, text: string, types: NodeType[]): Walk => ({
  cursor,
  types,
  text,
  lines: makeLineIndex(text),
  children: startChildren(text),
  heights: [],
  frame: makeFrame(undefined, typeHere(cursor, types) === ERROR),
  blocks: 0,
  yields: [false],
  hasErrors: hasError(cursor),
  broken: [],
  cut: [],
})

const typeHere = (cursor: TreeCursor, types: NodeType[]): NodeType => types[cursor.typeId] ?? ERROR

const startChildren = (text: string): Children => ({
  names: [],
  values: [],
  lines: [],
  base: 0,
  size: 0,
  line: 1,
  parent: '',
  grandparent: '',
  text,
  start: 0,
  end: 0,
  bodyYields: false,
  gathered: [],
})

const run = (walk: Walk, isCancelled: () => boolean): void => {
  const { cursor } = walk
  if (!goToFirstChild(cursor)) return
  for (let steps = 1; ; steps += 1) {
    if (steps % STEPS_BETWEEN_CHECKS === 0 && isCancelled()) throw new ParseCancelled()
    if (enter(walk)) continue
    while (!goToNextSibling(cursor)) {
      goToParent(cursor)
      // The root itself is an error if nothing of the file is right.
      if (!walk.frame.above) return walk.frame.isError ? closeError(walk, walk.frame) : undefined
      closeNode(walk)
    }
  }
}

/** Reads the node at the cursor, or begins to: then the cursor is on its first child and the result true. */
const enter = (walk: Walk): boolean => {
  const type = typeHere(walk.cursor, walk.types)
  if (walk.hasErrors && !mayRead(walk, type)) return false
  switch (type.shape) {
    case SKIP:
      return false
    case TOKEN:
      pushChild(walk, type.name, undefined, isFirst(walk) ? lineHere(walk) : 0, 0)
      return false
    case LEAF:
      pushLeaf(walk, type)
      return false
    case STRING:
      return !pushPlainString(walk, type) && openNode(walk, type)
    default:
      return openNode(walk, type)
  }
}

const isFirst = (walk: Walk): boolean => walk.children.size === walk.frame.base

const pushLeaf = (walk: Walk, type: NodeType): void => {
  const { cursor, text, lines } = walk
  const start = cursor.startIndex
  const line = lines.lineOf(start)
  pushChild(walk, type.name, type.leaf?.(text.slice(start, cursor.endIndex), line, start), line, 1)
}

/** All strings but those with fields are read from their text alone, which spares half a dozen nodes each. */
const pushPlainString = (walk: Walk, type: NodeType): boolean => {
  const { cursor, text, lines } = walk
  const start = cursor.startIndex
  const head = findLiteralHead(text, start)
  if (head?.format) return false
  const line = lines.lineOf(start)
  pushChild(walk, type.name, plainString(text, head, cursor.endIndex, line), line, 1)
  return true
}
