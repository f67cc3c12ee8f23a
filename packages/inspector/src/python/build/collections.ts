import type * as ast from '../ast.ts'
import { count, exprAt, exprs, gather, has, indexOf, nameAt, valueAt } from '../children.ts'
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

const comprehension =
  (of: ast.Comprehension['of']): Builder =>
  (children) => ({
    kind: 'Comprehension',
    line: children.line,
    of,
    element: exprAt(children, 1),
    clauses: clauses(children),
  })

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
  dictionary: (children): ast.Dict => ({
    kind: 'Dict',
    line: children.line,
    items: gather(children, readItem),
  }),
  pair,
  list_comprehension: comprehension('list'),
  set_comprehension: comprehension('set'),
  generator_expression: comprehension('generator'),
  dictionary_comprehension: (children): ast.DictComprehension => ({
    kind: 'DictComprehension',
    line: children.line,
    ...(valueAt(children, 1) as Pair),
    clauses: clauses(children),
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
  if_clause: (children) => valueAt(children, 1),
}
