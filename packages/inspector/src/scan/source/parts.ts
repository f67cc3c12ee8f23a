import type { Expression, List, Tuple } from '../../python/ast.ts'

/** A display of items in their order. */
export const isList = (node: Expression): node is List | Tuple =>
  node.kind === 'List' || node.kind === 'Tuple'

/** Expressions directly within one, in source order; none of those that open a scope (lambda, comprehension). */
export const partsOf = (node: Expression): Expression[] => {
  switch (node.kind) {
    case 'JoinedStr':
      return node.values.flatMap((value) =>
        typeof value === 'string' ? [] : [value.value, ...(value.spec ? [value.spec] : [])],
      )
    case 'Attribute':
    case 'Starred':
    case 'Await':
    case 'NamedExpr':
    case 'YieldFrom':
      return [node.value]
    case 'Yield':
      return node.value ? [node.value] : []
    case 'Subscript':
      return [node.value, node.index]
    case 'Slice':
      return [node.lower, node.upper, node.step].filter((part) => part !== undefined)
    case 'Call':
      return [node.func, ...node.args, ...node.keywords.map(({ value }) => value)]
    default:
      return operandsOf(node)
  }
}

const operandsOf = (node: Expression): Expression[] => {
  switch (node.kind) {
    case 'BinOp':
      return [node.left, ...node.rights.map(({ value }) => value)]
    case 'BoolOp':
      return node.values
    case 'UnaryOp':
      return [node.operand]
    case 'Compare':
      return [node.left, ...node.comparisons.map(({ value }) => value)]
    case 'IfExp':
      return [node.test, node.body, node.orelse]
    case 'Tuple':
    case 'List':
    case 'Set':
      return node.items
    case 'Dict':
      return node.items.flatMap(({ key, value }) => (key ? [key, value] : [value]))
    default:
      return []
  }
}

/** As `flatMap`. Most values lead to one other at most, and then no list is made again. */
export const gather = <From, To>(all: readonly From[], of: (one: From) => To[]): To[] => {
  const [first] = all
  return all.length === 1 && first !== undefined ? of(first) : all.flatMap(of)
}

/** As `concat`, and no new list when one of both is empty. */
export const join = <Item>(left: Item[], right: Item[]): Item[] => {
  if (left.length === 0) return right
  return right.length === 0 ? left : [...left, ...right]
}

/** The first ones. */
export const atMost = <Item>(max: number, all: Item[]): Item[] =>
  all.length > max ? all.slice(0, max) : all
