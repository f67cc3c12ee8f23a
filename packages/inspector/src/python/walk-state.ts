import type { BrokenStatement } from './ast.ts'
import type { Around, PythonSyntaxError } from './syntax-errors.ts'
import type { NodeType } from './grammar.ts'
import type { Children } from './children.ts'
import type { TreeCursor } from './tree-cursor.ts'

/** The state of one walk over a syntax tree. */
export interface Walk {
  cursor: TreeCursor
  types: NodeType[]
  text: string
  lines: LineIndex
  /** The stack of what is built and not yet part of its parent. */
  children: Children
  /** For each entry of the stack: levels of expressions in it. */
  heights: number[]
  /** The innermost node around the cursor. */
  frame: Frame
  /** Blocks around the cursor. */
  blocks: number
  /** For the module, each function body and each lambda around the cursor: has it a `yield`? */
  yields: boolean[]
  /** There is an error somewhere in the tree. Without one, nothing is asked about errors. */
  hasErrors: boolean
  broken: BrokenStatement[]
  cut: number[]
  /** Some of it nests too deep and was left out. */
  isLimited: boolean
  syntaxError: PythonSyntaxError | undefined
}

/** An inner node whose children are being read. There is one object for each level, used again and again. */
export interface Frame {
  /** The node around it; the module has none. */
  readonly above: Frame | undefined
  /** The level below, made once. */
  below: Frame | undefined
  type: NodeType
  /** Index of its first child on the stack. */
  base: number
  /** True for a function body and a lambda: a `yield` in it is theirs. */
  scopesYield: boolean
  /** Can't be built, and so neither can the statement it belongs to. */
  broken: boolean
  /** Blocks around it. */
  blocks: number
  /** Number of broken statements that were recorded before it. */
  recorded: number
  /** Its children are statements. */
  isList: boolean
  /** An error between statements: of its children the complete statements are kept. */
  isError: boolean
  /** For a list: column at which its statements begin. */
  column: number
  /** For an error: the first line that is not yet accounted for. */
  from: number
  /** Branches of it that nest too deep. */
  leftOut: BrokenStatement | undefined
  around: Around
  /** Brackets around its children. */
  brackets: number
}

export const lineHere = (walk: Walk): number => walk.lines.lineOf(walk.cursor.startIndex)

/** Line of the last character of the node at the cursor; some nodes take the line break after them along. */
export const endLineHere = (walk: Walk): number => {
  const { startIndex, endIndex } = walk.cursor
  return walk.lines.lineOf(Math.max(startIndex, endIndex - 1))
}

export const columnHere = (walk: Walk): number =>
  walk.cursor.startIndex - walk.lines.startOf(lineHere(walk))

export const pushChild = (
  walk: Walk,
  name: string,
  value: unknown,
  line: number,
  height: number,
): void => {
  const { children, heights } = walk
  const { size } = children
  children.names[size] = name
  children.values[size] = value
  children.lines[size] = line
  heights[size] = height
  children.size = size + 1
}

/** Lines by offset. */
interface LineIndex {
  /** 1-based line of an offset; quick where offsets come near the last one asked for. */
  lineOf(offset: number): number
  /** Offset of the first character of a 1-based line. */
  startOf(line: number): number
}

export const makeLineIndex = (text: string): LineIndex => {
  const starts = [0]
  for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', end + 1))
    starts.push(end + 1)
  let at = 0
  const lineOf = (offset: number): number => {
    while (at + 1 < starts.length && (starts[at + 1] as number) <= offset) at += 1
    while (at > 0 && (starts[at] as number) > offset) at -= 1
    return at + 1
  }
  return { lineOf, startOf: (line) => starts[line - 1] ?? 0 }
}
