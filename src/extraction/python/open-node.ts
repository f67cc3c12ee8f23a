import { closeNode } from './close-node.ts'
import { spoil } from './damage.ts'
import { ERROR } from './grammar.ts'
import type { NodeType } from './grammar.ts'
import { goToFirstChild } from './tree-cursor.ts'
import { columnHere, endLineHere, lineHere, topFrame } from './walk-state.ts'
import type { Frame, Walk } from './walk-state.ts'

/** Blocks within blocks, each `elif` counted; CPython stops at 100 levels of indentation. */
const MAX_BLOCKS = 200

/** The frame of the module, which has no parent and is never built. */
export const rootFrame = (isError: boolean): Frame => ({
  type: ERROR,
  base: 0,
  scopesYield: false,
  broken: false,
  blocks: 0,
  noted: 0,
  isList: true,
  isError,
  column: 0,
  from: 1,
  leftOut: undefined,
})

/** Begins an inner node: the cursor goes to its first child. False if it has none or is not to be read. */
export const openNode = (walk: Walk, type: NodeType): boolean => {
  if (!mayNest(walk, type)) return false
  const parent = topFrame(walk)
  const frame = startFrame(walk, type, parent)
  enterScopes(walk, frame)
  walk.frames.push(frame)
  if (goToFirstChild(walk.cursor)) return true
  closeNode(walk)
  return false
}

const startFrame = (walk: Walk, type: NodeType, parent: Frame): Frame => {
  const isError = type === ERROR
  const isBlock = type.name === 'block'
  return {
    type,
    base: walk.kids.size,
    scopesYield: type.name === 'lambda' || (isBlock && parent.type.name === 'function_definition'),
    broken: false,
    blocks: walk.blocks,
    noted: walk.broken.length,
    isList: isError || isBlock,
    isError,
    column: isBlock && walk.hasErrors ? columnHere(walk) : parent.column,
    from: isError ? lineHere(walk) : 0,
    leftOut: undefined,
  }
}

const enterScopes = (walk: Walk, frame: Frame): void => {
  const { name } = frame.type
  if (name === 'block' || name === 'elif_clause') walk.blocks += 1
  if (frame.scopesYield) walk.yields.push(false)
  if (name === 'yield') walk.yields[walk.yields.length - 1] = true
}

/** Where blocks are too deep, the rest of a chain of `elif` is left out, or else the statement around the block. */
const mayNest = (walk: Walk, { name }: NodeType): boolean => {
  if (name === 'block') return walk.blocks < MAX_BLOCKS || spoil(walk, topFrame(walk))
  const branches = name === 'elif_clause' || name === 'else_clause'
  // The block of the branch is one more.
  if (!branches || walk.blocks < MAX_BLOCKS - 1) return true
  leaveOut(walk, topFrame(walk))
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
