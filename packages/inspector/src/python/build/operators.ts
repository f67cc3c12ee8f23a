import type * as ast from '../ast.ts'
import { at, BROKEN, count, exprAt, nameAt, node } from '../children.ts'
import type { Builders, Children } from '../children.ts'

/** Operators of one level bind alike, so that a chain of them is a plain sequence. */
const LEVELS: Record<ast.BinaryOperator, number> = {
  '|': 1,
  '^': 2,
  '&': 3,
  '<<': 4,
  '>>': 4,
  '+': 5,
  '-': 5,
  '*': 6,
  '/': 6,
  '//': 6,
  '%': 6,
  '@': 6,
  '**': 7,
}

const binary = (children: Children): ast.BinOp => {
  const op = nameAt(children, 1) as ast.BinaryOperator
  const left = exprAt(children, 0)
  if (op === '&' && (isXor(children, 0) || isXor(children, 2))) return andWithinXor(children)
  const right = { op, value: exprAt(children, 2) }
  if (continuesChain(children, left, op)) {
    left.rights.push(right)
    return left
  }
  return { kind: 'BinOp', line: children.line, left, rights: [right] }
}

/** A parenthesized left side has another name, and a power binds to the right. */
const continuesChain = (
  children: Children,
  left: ast.Expression,
  op: ast.BinaryOperator,
): left is ast.BinOp =>
  left.kind === 'BinOp' &&
  isChain(nameAt(children, 0)) &&
  op !== '**' &&
  left.rights[0] !== undefined &&
  LEVELS[left.rights[0].op] === LEVELS[op]

/** The grammar binds `^` closer than `&`, Python the other way: `a ^ (b & c) ^ d` comes as `(a ^ b) & (c ^ d)`. */
const andWithinXor = (children: Children): ast.BinOp => {
  const left = exprAt(children, 0)
  const right = exprAt(children, 2)
  const first = isXor(children, 2) && right.kind === 'BinOp' ? right.left : right
  const rest = isXor(children, 2) && right.kind === 'BinOp' ? right.rights : []
  const last = isXor(children, 0) && left.kind === 'BinOp' ? left.rights.at(-1) : undefined
  if (left.kind !== 'BinOp' || !last) {
    return { kind: 'BinOp', line: children.line, left: and(left, first), rights: rest }
  }
  last.value = and(last.value, first)
  for (const item of rest) left.rights.push(item)
  return left
}

const isXor = (children: Children, index: number): boolean => {
  if (nameAt(children, index) !== 'binary_operator') return false
  const operand = exprAt(children, index)
  return operand.kind === 'BinOp' && operand.rights[0]?.op === '^'
}

const and = (left: ast.Expression, right: ast.Expression): ast.BinOp => {
  const item = { op: '&' as const, value: right }
  if (left.kind !== 'BinOp' || left.rights[0]?.op !== '&') {
    return { kind: 'BinOp', line: left.line, left, rights: [item] }
  }
  left.rights.push(item)
  return left
}

const isChain = (name: string): boolean => name === 'binary_operator' || name === 'union_type'

const boolean = (children: Children): ast.BoolOp => {
  const op = nameAt(children, 1) === 'and' ? 'and' : 'or'
  const left = exprAt(children, 0)
  const right = exprAt(children, 2)
  if (nameAt(children, 0) === 'boolean_operator' && left.kind === 'BoolOp' && left.op === op) {
    left.values.push(right)
    return left
  }
  return { kind: 'BoolOp', line: children.line, op, values: [left, right] }
}

/** `<>` is Python 2. */
const compareOperator = (name: string): ast.CompareOperator =>
  name === '<>' ? '!=' : (name as ast.CompareOperator)

/** In a repaired text (`repair.ts`) a star may be read as a plus; the source shows which. */
const unary = (children: Children): ast.UnaryOp | ast.Starred => {
  const operand = exprAt(children, 1)
  const op = nameAt(children, 0) as ast.UnaryOp['op']
  if (op === '+' && children.text.charAt(children.start) === '*') {
    return { kind: 'Starred', line: children.line, value: operand }
  }
  return { kind: 'UnaryOp', line: children.line, op, operand }
}

export const operatorBuilders: Builders = {
  binary_operator: binary,
  /**
   * In an annotation the grammar reads `list[str] | A | B` as `list[str] | (A | B)`: what stands right without parentheses
   * is joined to the chain.
   */
  union_type: (children): ast.BinOp => {
    const right = exprAt(children, 2)
    if (right.kind !== 'BinOp' || !isChain(nameAt(children, 2)) || right.rights[0]?.op !== '|')
      return binary(children)
    const left = exprAt(children, 0)
    const rights = [{ op: '|' as const, value: right.left }, ...right.rights]
    if (!continuesChain(children, left, '|'))
      return { kind: 'BinOp', line: children.line, left, rights }
    for (const item of rights) left.rights.push(item)
    return left
  },
  boolean_operator: boolean,
  comparison_operator: (children): ast.Compare => {
    const comparisons = Array.from({ length: (count(children) - 1) >> 1 }, (_, at) => ({
      op: compareOperator(nameAt(children, 2 * at + 1)),
      value: exprAt(children, 2 * at + 2),
    }))
    return { kind: 'Compare', line: children.line, left: exprAt(children, 0), comparisons }
  },
  unary_operator: unary,
  not_operator: unary,
  /** The grammar reads `await x ** 2` as the awaiting of a power; Python awaits first. */
  await: (children): ast.Expression => {
    const operand = exprAt(children, 1)
    if (nameAt(children, 1) !== 'binary_operator' || operand.kind !== 'BinOp') {
      return { kind: 'Await', line: children.line, value: operand }
    }
    const left: ast.Await = { kind: 'Await', line: children.line, value: operand.left }
    return { ...operand, line: children.line, left }
  },
  conditional_expression: node<ast.IfExp>('IfExp', { body: at(0), test: at(2), orelse: at(4) }),
  named_expression: (children): ast.NamedExpr | typeof BROKEN => {
    const target = exprAt(children, 0)
    if (target.kind !== 'Name') return BROKEN
    return { kind: 'NamedExpr', line: children.line, target: target.id, value: exprAt(children, 2) }
  },
}
