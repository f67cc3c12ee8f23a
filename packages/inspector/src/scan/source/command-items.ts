import type { BinOp, Expression } from '../../python/ast.ts'
import { isList } from './parts.ts'
import { findBindings } from './find-bindings.ts'
import type { Binding, Scope } from './scope.ts'

/** An item of a list, with the scope in which it is to be read. */
export interface Item {
  node: Expression
  scope: Scope
}

/**
 * The lists that an expression may be, item by item: displays, sums of them, names that stand for them, one way for each
 * assignment of a name. Undefined for what is no list as far as can be seen.
 */
export const listsOf = (node: Expression, scope: Scope): Item[][] | undefined =>
  listsWithin({ node, scope }, { steps: MAX_STEPS, depth: 0 })

/** Commands have some ten words. */
const MAX_STEPS = 500
const MAX_DEPTH = 12
const MAX_LISTS = 4
const MAX_ITEMS = 64

interface Search {
  steps: number
  depth: number
}

const listsWithin = ({ node, scope }: Item, search: Search): Item[][] | undefined => {
  search.steps -= 1
  if (search.steps < 0 || search.depth > MAX_DEPTH) return undefined
  search.depth += 1
  const lists = listsOfKind({ node, scope }, search)
  search.depth -= 1
  return lists
}

const listsOfKind = ({ node, scope }: Item, search: Search): Item[][] | undefined => {
  if (isList(node))
    return node.items
      .slice(0, MAX_ITEMS)
      .map((item) => listsOfItem({ node: item, scope }, search))
      .reduce(cross, [[]])
  if (node.kind === 'BinOp') return listsOfSum(node, scope, search)
  return node.kind === 'Name' ? listsOfName(findBindings(scope, node.id) ?? [], search) : undefined
}

const listsOfItem = ({ node, scope }: Item, search: Search): Item[][] =>
  (node.kind === 'Starred' ? listsWithin({ node: node.value, scope }, search) : undefined) ?? [
    [{ node, scope }],
  ]

/** Whatever is added to a list is one, of unknown items. */
const listsOfSum = (node: BinOp, scope: Scope, search: Search): Item[][] | undefined => {
  const terms = [node.left, ...node.rights.map(({ value }) => value)].slice(0, MAX_ITEMS)
  const lists = terms.map((term) => listsWithin({ node: term, scope }, search))
  if (!lists.some(Boolean)) return undefined
  return terms.map((term, at) => lists[at] ?? [[{ node: term, scope }]]).reduce(cross, [[]])
}

/** Every assignment gives a list of its own; what is added may follow each of them. */
const listsOfName = (bindings: readonly Binding[], search: Search): Item[][] | undefined => {
  const ofKind = (kind: 'value' | 'added'): Item[][] =>
    bindings.flatMap((binding) =>
      binding.kind === kind
        ? (listsWithin({ node: binding.value, scope: binding.scope }, search) ?? [])
        : [],
    )
  const assigned = ofKind('value')
  const added = ofKind('added').flat()
  return assigned.length > 0 ? cross(assigned, [added]) : undefined
}

/** Every list of `left` with every one of `right` behind it. */
const cross = (left: Item[][], right: Item[][]): Item[][] => {
  const made: Item[][] = []
  for (const start of left)
    for (const end of right)
      if (made.length < MAX_LISTS) made.push([...start, ...end].slice(0, MAX_ITEMS))
  return made
}
