import type { Expression, Starred } from './ast.ts'
import { mayHoldAs, type AsPattern } from './build/with.ts'
import { closeError, drop } from './damage.ts'
import { noteError } from './syntax-errors.ts'
import type { NodeType } from './grammar.ts'
import { BROKEN, type Children } from './children.ts'
import { hasError } from './tree-cursor.ts'
import { lineHere, pushChild, type Frame, type Walk } from './walk-state.ts'

/** Levels of one expression that are kept: twice what CPython allows for brackets, and within reach of a recursion. */
const MAX_NESTING = 400

/** Builds the innermost open node, whose children are on the stack, in their place. The cursor is on it again. */
export const closeNode = (walk: Walk): void => {
  const { frame, children } = walk
  walk.frame = frame.above as Frame
  // An `elif` nests in the `if` before it, so its level lasts until that `if` ends.
  if (frame.type.name !== 'elif_clause') walk.blocks = frame.blocks
  if (frame.isError) return closeError(walk, frame)
  present(walk, frame)
  if (frame.broken || hidesError(walk, frame)) return drop(walk, frame)
  const height = heightOfChildren(walk, frame)
  if (height >= MAX_NESTING && frame.type.nests) return cut(walk, frame)
  const value = build(children, frame.type)
  if (children.error !== undefined) noteError(walk, children.error, children.line)
  children.error = undefined
  if (value === BROKEN) return drop(walk, frame)
  replace(walk, frame, value, height)
}

const present = (walk: Walk, frame: Frame): void => {
  const { children, cursor, frame: parent } = walk
  children.base = frame.base
  children.line = (children.size > frame.base && children.lines[frame.base]) || lineHere(walk)
  children.parent = parent.type.name
  children.grandparent = parent.above?.type.name ?? ''
  if (frame.type.needsSpan) {
    children.start = cursor.startIndex
    children.end = cursor.endIndex
  }
  if (frame.scopesYield) children.bodyYields = walk.yields.pop() ?? false
}

/** A missing token that has no node of its own, as a line break. */
const hidesError = (walk: Walk, frame: Frame): boolean =>
  walk.hasErrors &&
  frame.type.isStatement &&
  walk.broken.length === frame.recorded &&
  hasError(walk.cursor)

/** Height of the highest child; the left end of a chain becomes part of it and is not below it. */
const heightOfChildren = (walk: Walk, frame: Frame): number => {
  if (frame.type.isStatement) return 0
  const { children, heights } = walk
  const isChain = frame.type.chains && children.names[frame.base] === frame.type.name
  let height = 0
  for (let at = isChain ? frame.base + 1 : frame.base; at < children.size; at += 1) {
    const own = heights[at] as number
    if (own > height) height = own
  }
  return height
}

/** Too deep: an expression is unknown from here on, anything else spoils its statement. */
const cut = (walk: Walk, frame: Frame): void => {
  walk.cut.push(walk.children.line)
  walk.isLimited = true
  if (!frame.type.isExpression) return drop(walk, frame)
  const unknown: Expression = { kind: 'Constant', line: walk.children.line, value: undefined }
  walk.children.size = frame.base
  pushChild(walk, frame.type.name, unknown, unknown.line, 1)
}

const replace = (walk: Walk, frame: Frame, value: unknown, height: number): void => {
  const { children, heights } = walk
  const joined = frame.type.chains && value === children.values[frame.base]
  const own = frame.type.nests ? height + 1 : height
  const total = joined ? Math.max(own, heights[frame.base] as number) : own
  children.size = frame.base
  pushChild(
    walk,
    nameOf(frame.type, children.names[frame.base] ?? '', value),
    value,
    children.line,
    total,
  )
}

/** Nothing but the expression in them. */
const TRANSPARENT = new Set(['type', 'with_item'])

/** Name that the parent sees: a star goes on up. */
const nameOf = (type: NodeType, first: string, value: unknown): string => {
  if (TRANSPARENT.has(type.name)) return first
  const isSplat = type.hoistsSplat && (value as { kind?: string }).kind === 'Starred'
  return isSplat ? 'list_splat' : type.name
}

/** The grammar reads `*a.b()` as the call of `*a.b`: the star is put in front of the whole again. */
const build = (children: Children, type: NodeType): unknown => {
  if (type.hoistsAs) return buildWithoutAs(children, type)
  if (!type.hoistsSplat || children.names[children.base] !== 'list_splat')
    return type.build?.(children)
  const inner = buildWithoutStar(children, type)
  return inner === BROKEN ? BROKEN : { kind: 'Starred', line: children.line, value: inner }
}

const buildWithoutStar = (children: Children, type: NodeType): unknown => {
  const value = (children.values[children.base] as Starred).value
  children.values[children.base] = value
  children.names[children.base] = value.kind === 'BinOp' ? 'binary_operator' : ''
  const built = type.build?.(children)
  children.names[children.base] = 'list_splat'
  return built
}

/** `a if b else (c as d)` is what the grammar makes of `with a if b else c as d`; the target belongs to the whole. */
const buildWithoutAs = (children: Children, type: NodeType): unknown => {
  const last = children.values[children.size - 1] as Expression | AsPattern
  if (last.kind !== 'AsPattern') return type.build?.(children)
  if (!mayHoldAs(children)) return BROKEN
  children.values[children.size - 1] = last.context
  return { ...last, context: type.build?.(children) }
}
