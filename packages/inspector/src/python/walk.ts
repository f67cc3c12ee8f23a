import type { Module, Statement } from './ast.ts'
import { plainString } from './build/strings.ts'
import { closeNode } from './close-node.ts'
import { closeError, mayRead, spoil } from './damage.ts'
import { aroundIn, checkDepth, checkIndent, MODULE, noteError } from './syntax-errors.ts'
import { ERROR, LEAF, SKIP, STRING, TOKEN, type NodeType } from './grammar.ts'
import { values, type Children } from './children.ts'
import { columnHere, endLineHere, lineHere, makeLineIndex, pushChild } from './walk-state.ts'
import type { Frame, Walk } from './walk-state.ts'
import { findLiteralHead } from './string-literal.ts'
import { goToFirstChild, goToNextSibling, goToParent, hasError } from './tree-cursor.ts'
import type { TreeCursor } from './tree-cursor.ts'

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
): Pick<Module, 'body' | 'broken' | 'cut' | 'syntaxError'> => {
  const walk = startWalk(cursor, text, types)
  run(walk, isCancelled)
  walk.children.base = 0
  const { broken, cut } = walk
  const [first] = broken
  if (first && !walk.isLimited) noteError(walk, 'invalid syntax', first.line)
  return { body: values(walk.children) as Statement[], broken, cut, syntaxError: walk.syntaxError }
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
  isLimited: false,
  syntaxError: undefined,
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
  error: undefined,
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
  const message = type.check?.(walk, walk.frame.around)
  if (message) noteError(walk, message)
  if (type.isStatement && walk.frame.isList)
    checkIndent(walk, (column) => column === walk.frame.column)
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

/** Blocks within blocks, each `elif` counted; CPython stops at 100 levels of indentation. */
const MAX_BLOCKS = 200

/** A level of the walk, written down whole for each: copies of another object made reading 8 % slower. */
const makeFrame = (above: Frame | undefined, isError: boolean): Frame => ({
  above,
  below: undefined,
  type: ERROR,
  base: 0,
  scopesYield: false,
  broken: false,
  blocks: 0,
  recorded: 0,
  isList: true,
  isError,
  column: 0,
  from: 1,
  leftOut: undefined,
  around: MODULE,
  brackets: 0,
})

/** Begins an inner node: the cursor goes to its first child. False if it has none or is not to be read. */
const openNode = (walk: Walk, type: NodeType): boolean => {
  if (!mayNest(walk, type)) {
    walk.isLimited = true
    return false
  }
  const frame = startFrame(walk, type, walk.frame)
  enterScopes(walk, frame)
  checkDepth(walk, frame)
  // The grammar lets the block of a `match` begin before its line ends.
  if (frame.type.name === 'block' && frame.above?.type.name !== 'case_clause')
    checkIndent(walk, (column) => column > (frame.above?.column ?? 0))
  walk.frame = frame
  if (goToFirstChild(walk.cursor)) return true
  closeNode(walk)
  return false
}

const startFrame = (walk: Walk, type: NodeType, parent: Frame): Frame => {
  const isError = type === ERROR
  const isBlock = type.name === 'block'
  const frame = (parent.below ??= makeFrame(parent, isError))
  frame.type = type
  frame.base = walk.children.size
  frame.scopesYield =
    type.name === 'lambda' || (isBlock && parent.type.name === 'function_definition')
  frame.broken = false
  frame.blocks = walk.blocks
  frame.recorded = walk.broken.length
  frame.isList = isError || isBlock
  frame.isError = isError
  frame.column = isBlock ? columnHere(walk) : parent.column
  frame.from = isError ? lineHere(walk) : 0
  frame.leftOut = undefined
  frame.around = isBlock || type.isOpen ? aroundIn(walk, frame, parent.around) : parent.around
  frame.brackets = type.hasBrackets ? parent.brackets + 1 : parent.brackets
  return frame
}

const enterScopes = (walk: Walk, frame: Frame): void => {
  const { name } = frame.type
  if (name === 'block' || name === 'elif_clause') walk.blocks += 1
  if (frame.scopesYield) walk.yields.push(false)
  if (name === 'yield') walk.yields[walk.yields.length - 1] = true
}

/** False where blocks are too deep: the rest of a chain of `elif` is left out, or else the statement around it. */
const mayNest = (walk: Walk, { name }: NodeType): boolean => {
  if (name === 'block') return walk.blocks < MAX_BLOCKS || spoil(walk, walk.frame)
  const branches = name === 'elif_clause' || name === 'else_clause'
  // The block of the branch is one more.
  if (!branches || walk.blocks < MAX_BLOCKS - 1) return true
  leaveOut(walk, walk.frame)
  return false
}

/** The branches left out of one statement are noted as one. */
const leaveOut = (walk: Walk, parent: Frame): void => {
  const endLine = endLineHere(walk)
  if (parent.leftOut) parent.leftOut.endLine = endLine
  else {
    parent.leftOut = { line: lineHere(walk), endLine }
    walk.broken.push(parent.leftOut)
  }
}

/** The caller's `isCancelled` became true while a file was parsed. */
export class ParseCancelled extends Error {
  constructor() {
    super('parsing was cancelled')
    this.name = 'ParseCancelled'
  }
}
