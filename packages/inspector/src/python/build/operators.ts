import type * as ast from '../ast.ts'
import { BROKEN, count, exprAt, nameAt, operatorAt } from '../kids.ts'
import type { Builders, Kids } from '../kids.ts'

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

const binary = (kids: Kids): ast.BinOp => {
  const op = operatorAt(kids, 1)
  const left = exprAt(kids, 0)
  if (op === '&' && (isXor(kids, 0) || isXor(kids, 2))) return andWithinXor(kids)
  const right = { op, value: exprAt(kids, 2) }
  if (continuesChain(kids, left, op)) {
    left.rights.push(right)
    return left
  }
  return { kind: 'BinOp', line: kids.line, left, rights: [right] }
}

/** A parenthesized left side has another name, and a power binds to the right. */
const continuesChain = (
  kids: Kids,
  left: ast.Expression,
  op: ast.BinaryOperator,
): left is ast.BinOp =>
  left.kind === 'BinOp' &&
  isChain(nameAt(kids, 0)) &&
  op !== '**' &&
  left.rights[0] !== undefined &&
  LEVELS[left.rights[0].op] === LEVELS[op]

/** The grammar binds `^` closer than `&`, Python the other way: `a ^ (b & c) ^ d` comes as `(a ^ b) & (c ^ d)`. */
const andWithinXor = (kids: Kids): ast.BinOp => {
  const left = exprAt(kids, 0)
  const right = exprAt(kids, 2)
  const first = isXor(kids, 2) && right.kind === 'BinOp' ? right.left : right
  const rest = isXor(kids, 2) && right.kind === 'BinOp' ? right.rights : []
  const last = isXor(kids, 0) && left.kind === 'BinOp' ? left.rights.at(-1) : undefined
  if (left.kind !== 'BinOp' || !last) {
    return { kind: 'BinOp', line: kids.line, left: and(left, first), rights: rest }
  }
  last.value = and(last.value, first)
  for (const item of rest) left.rights.push(item)
  return left
}

const isXor = (kids: Kids, index: number): boolean => {
  if (nameAt(kids, index) !== 'binary_operator') return false
  const operand = exprAt(kids, index)
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

const boolean = (kids: Kids): ast.BoolOp => {
  const op = nameAt(kids, 1) === 'and' ? 'and' : 'or'
  const left = exprAt(kids, 0)
  const right = exprAt(kids, 2)
  if (nameAt(kids, 0) === 'boolean_operator' && left.kind === 'BoolOp' && left.op === op) {
    left.values.push(right)
    return left
  }
  return { kind: 'BoolOp', line: kids.line, op, values: [left, right] }
}

/** `<>` is Python 2. */
const compareOperator = (name: string): ast.CompareOperator =>
  name === '<>' ? '!=' : (name as ast.CompareOperator)

/** In a repaired text (`repair.ts`) a star may be read as a plus; the source tells. */
const unary = (kids: Kids): ast.UnaryOp | ast.Starred => {
  const operand = exprAt(kids, 1)
  const op = nameAt(kids, 0) as ast.UnaryOp['op']
  if (op === '+' && kids.text.charAt(kids.start) === '*') {
    return { kind: 'Starred', line: kids.line, value: operand }
  }
  return { kind: 'UnaryOp', line: kids.line, op, operand }
}

export const operatorBuilders: Builders = {
  binary_operator: binary,
  /**
   * In an annotation the grammar reads `list[str] | A | B` as `list[str] | (A | B)`: what stands right without parentheses
   * is joined to the chain.
   */
  union_type: (kids): ast.BinOp => {
    const right = exprAt(kids, 2)
    if (right.kind !== 'BinOp' || !isChain(nameAt(kids, 2)) || right.rights[0]?.op !== '|')
      return binary(kids)
    const left = exprAt(kids, 0)
    const rights = [{ op: '|' as const, value: right.left }, ...right.rights]
    if (!continuesChain(kids, left, '|')) return { kind: 'BinOp', line: kids.line, left, rights }
    for (const item of rights) left.rights.push(item)
    return left
  },
  boolean_operator: boolean,
  comparison_operator: (kids): ast.Compare => {
    const comparisons = Array.from({ length: (count(kids) - 1) >> 1 }, (_, at) => ({
      op: compareOperator(nameAt(kids, 2 * at + 1)),
      value: exprAt(kids, 2 * at + 2),
    }))
    return { kind: 'Compare', line: kids.line, left: exprAt(kids, 0), comparisons }
  },
  unary_operator: unary,
  not_operator: unary,
  /** The grammar reads `await x ** 2` as the awaiting of a power; Python awaits first. */
  await: (kids): ast.Expression => {
    const operand = exprAt(kids, 1)
    if (nameAt(kids, 1) !== 'binary_operator' || operand.kind !== 'BinOp') {
      return { kind: 'Await', line: kids.line, value: operand }
    }
    const left: ast.Await = { kind: 'Await', line: kids.line, value: operand.left }
    return { ...operand, line: kids.line, left }
  },
  conditional_expression: (kids): ast.IfExp => ({
    kind: 'IfExp',
    line: kids.line,
    body: exprAt(kids, 0),
    test: exprAt(kids, 2),
    orelse: exprAt(kids, 4),
  }),
  named_expression: (kids): ast.NamedExpr | typeof BROKEN => {
    const target = exprAt(kids, 0)
    if (target.kind !== 'Name') return BROKEN
    return { kind: 'NamedExpr', line: kids.line, target: target.id, value: exprAt(kids, 2) }
  },
}
