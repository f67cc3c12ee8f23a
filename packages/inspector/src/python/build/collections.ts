import type * as ast from '../ast.ts'
import {
  at,
  count,
  exprAt,
  exprs,
  gather,
  has,
  indexOf,
  nameAt,
  node,
  valueAt,
} from '../children.ts'
import type { Builder, Builders, Children } from '../children.ts'
import { sequencePattern } from './patterns.ts'
import { tupleOrOne } from './expressions.ts'

interface Pair {
  key: ast.Expression
  value: ast.Expression
}

/** `[…]` and `(…)` are patterns of a `case` too, under the same name. */
const display =
  (kind: 'Tuple' | 'List' | 'Set'): Builder =>
  (children) =>
    has(children, 'case_pattern')
      ? sequencePattern(children)
      : { kind, line: children.line, items: exprs(children) }

/** `for (a) in b` has a target in parentheses, not a tuple. */
const tuplePattern = (children: Children): unknown =>
  count(children) === 3 && nameAt(children, 1) !== 'case_pattern'
    ? exprAt(children, 1)
    : display('Tuple')(children)

const readItem = (name: string, value: unknown): ast.Dict['items'][number] =>
  name === 'pair' ? (value as Pair) : { key: undefined, value: value as ast.Expression }

const pair = (children: Children): Pair => ({
  key: exprAt(children, 0),
  value: exprAt(children, 2),
})

const comprehension = (of: ast.Comprehension['of']): Builder =>
  node<ast.Comprehension>('Comprehension', { of: () => of, element: at(1), clauses })

const clauses = (children: Children): ast.ComprehensionClause[] => {
  const found: ast.ComprehensionClause[] = []
  for (let index = 2; index < count(children) - 1; index += 1) {
    if (nameAt(children, index) === 'for_in_clause')
      found.push(valueAt(children, index) as ast.ComprehensionClause)
    else found.at(-1)?.conditions.push(exprAt(children, index))
  }
  return found
}

export const collectionBuilders: Builders = {
  tuple: display('Tuple'),
  tuple_pattern: tuplePattern,
  list: display('List'),
  list_pattern: display('List'),
  set: display('Set'),
  dictionary: node<ast.Dict>('Dict', { items: (children) => gather(children, readItem) }),
  pair,
  list_comprehension: comprehension('list'),
  set_comprehension: comprehension('set'),
  generator_expression: comprehension('generator'),
  dictionary_comprehension: node<ast.DictComprehension>('DictComprehension', {
    key: (children) => (valueAt(children, 1) as Pair).key,
    value: (children) => (valueAt(children, 1) as Pair).value,
    clauses,
  }),
  for_in_clause: (children): ast.ComprehensionClause => {
    const start = indexOf(children, 'for')
    const middle = indexOf(children, 'in')
    return {
      target: exprAt(children, start + 1),
      iter: tupleOrOne(children, middle + 1),
      conditions: [],
    }
  },
  if_clause: at(1),
}
