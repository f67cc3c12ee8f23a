import { ERROR, type NodeType } from './grammar.ts'
import { isMissing } from './tree-cursor.ts'
import { columnHere, endLineHere, lineHere, type Frame, type Walk } from './walk-state.ts'

/**
 * In a tree with errors, whether the node at the cursor is read or skipped. An error spoils the statement it lies in:
 * the innermost one, if it lies in a block. Called for each node before it is read.
 */
export const mayRead = (walk: Walk, type: NodeType): boolean => {
  const { frame: parent } = walk
  if (type === ERROR) return mayReadError(walk, parent)
  if (isMissing(walk.cursor)) return spoil(walk, parent)
  if (parent.isError) return mayRecover(walk, type, parent)
  if (parent.isList && type.isStatement && isRestOfBroken(walk)) return spoil(walk, parent)
  return true
}

/** Records what is at the cursor, or marks the statement around it. Returns false. */
export const spoil = (walk: Walk, parent: Frame): false => {
  if (parent.isList) record(walk, lineHere(walk), endLineHere(walk))
  else parent.broken = true
  return false
}

/**
 * An error between statements may hold complete ones. One between the colon of a header and the block is in the first
 * statement of that block.
 */
const mayReadError = (walk: Walk, parent: Frame): boolean => {
  if (parent.isList) return true
  if (parent.type.hasBlock && walk.children.names[walk.children.size - 1] === ':') {
    record(walk, lineHere(walk), endLineHere(walk))
    return false
  }
  return spoil(walk, parent)
}

/** `a b` is an error and the statement `b`: what goes on in the line of an error is no statement without a semicolon. */
const isRestOfBroken = ({ broken, children, lines, cursor }: Walk): boolean =>
  broken.length > 0 &&
  children.names[children.size - 1] !== ';' &&
  broken.at(-1)?.endLine === lines.lineOf(cursor.startIndex)

/** A statement within an error is kept if it begins where those of the list around the error do. */
const mayRecover = (walk: Walk, type: NodeType, error: Frame): boolean => {
  if (!type.isStatement || columnHere(walk) !== error.column) return false
  recordUpTo(walk, error, lineHere(walk) - 1)
  error.from = endLineHere(walk) + 1
  return true
}

/** The end of an error between statements; what it holds of them stays on the stack. */
export const closeError = (walk: Walk, error: Frame): void => {
  recordUpTo(walk, error, endLineHere(walk))
  if (walk.broken.length === error.recorded) record(walk, lineHere(walk), endLineHere(walk))
}

const recordUpTo = (walk: Walk, error: Frame, endLine: number): void => {
  if (error.from <= endLine) record(walk, error.from, endLine)
}

/** A node that can't be built: as a statement of a list it is left out, else it spoils its parent. */
export const drop = (walk: Walk, frame: Frame): void => {
  walk.children.size = frame.base
  const { frame: parent } = walk
  if (frame.type.name === 'case_clause') parent.broken = true
  else spoil(walk, parent)
}

const record = (walk: Walk, line: number, endLine: number): void => {
  const last = walk.broken.at(-1)
  if (last?.line === line && last.endLine === line) last.endLine = Math.max(line, endLine)
  else walk.broken.push({ line, endLine })
}
