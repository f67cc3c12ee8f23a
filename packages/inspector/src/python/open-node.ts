import { closeNode } from './close-node.ts'
import { spoil } from './damage.ts'
import { ERROR } from './grammar.ts'
import type { NodeType } from './grammar.ts'
import { goToFirstChild } from './tree-cursor.ts'
import { columnHere, endLineHere, lineHere } from './walk-state.ts'
import type { Frame, Walk } from './walk-state.ts'

/** Blocks within blocks, each `elif` counted; CPython stops at 100 levels of indentation. */
const MAX_BLOCKS = 200

/** A level of the walk, written down whole for each: copies of another object made reading 8 % slower. */
export const makeFrame = (above: Frame | undefined, isError: boolean): Frame => ({
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
})

/** Begins an inner node: the cursor goes to its first child. False if it has none or is not to be read. */
export const openNode = (walk: Walk, type: NodeType): boolean => {
  if (!mayNest(walk, type)) return false
  const frame = startFrame(walk, type, walk.frame)
  enterScopes(walk, frame)
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
  frame.column = isBlock && walk.hasErrors ? columnHere(walk) : parent.column
  frame.from = isError ? lineHere(walk) : 0
  frame.leftOut = undefined
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
