import type * as ast from '../ast.ts'
import { count, exprAt, exprs, gather, has, indexOf, nameAt, valueAt } from '../kids.ts'
import type { Builder, Builders, Kids } from '../kids.ts'
import { sequencePattern } from './patterns.ts'
import { tupleOrOne } from './expressions.ts'

interface Pair {
  key: ast.Expression
  value: ast.Expression
}

/** `[…]` and `(…)` are patterns of a `case` too, under the same name. */
const display =
  (kind: 'Tuple' | 'List' | 'Set'): Builder =>
  (kids) =>
    has(kids, 'case_pattern')
      ? sequencePattern(kids)
      : { kind, line: kids.line, items: exprs(kids) }

/** `for (a) in b` has a target in parentheses, not a tuple. */
const tuplePattern = (kids: Kids): unknown =>
  count(kids) === 3 && nameAt(kids, 1) !== 'case_pattern' ? exprAt(kids, 1) : display('Tuple')(kids)

const readItem = (name: string, value: unknown): ast.Dict['items'][number] =>
  name === 'pair' ? (value as Pair) : { key: undefined, value: value as ast.Expression }

const pair = (kids: Kids): Pair => ({ key: exprAt(kids, 0), value: exprAt(kids, 2) })

const comprehension =
  (of: ast.Comprehension['of']): Builder =>
  (kids) => ({
    kind: 'Comprehension',
    line: kids.line,
    of,
    element: exprAt(kids, 1),
    clauses: clauses(kids),
  })

const clauses = (kids: Kids): ast.ComprehensionClause[] => {
  const found: ast.ComprehensionClause[] = []
  for (let index = 2; index < count(kids) - 1; index += 1) {
    if (nameAt(kids, index) === 'for_in_clause')
      found.push(valueAt(kids, index) as ast.ComprehensionClause)
    else found.at(-1)?.conditions.push(exprAt(kids, index))
  }
  return found
}

export const collectionBuilders: Builders = {
  tuple: display('Tuple'),
  tuple_pattern: tuplePattern,
  list: display('List'),
  list_pattern: display('List'),
  set: display('Set'),
  dictionary: (kids): ast.Dict => ({
    kind: 'Dict',
    line: kids.line,
    items: gather(kids, readItem),
  }),
  pair,
  list_comprehension: comprehension('list'),
  set_comprehension: comprehension('set'),
  generator_expression: comprehension('generator'),
  dictionary_comprehension: (kids): ast.DictComprehension => ({
    kind: 'DictComprehension',
    line: kids.line,
    ...(valueAt(kids, 1) as Pair),
    clauses: clauses(kids),
  }),
  for_in_clause: (kids): ast.ComprehensionClause => {
    const start = indexOf(kids, 'for')
    const middle = indexOf(kids, 'in')
    return { target: exprAt(kids, start + 1), iter: tupleOrOne(kids, middle + 1), conditions: [] }
  },
  if_clause: (kids) => valueAt(kids, 1),
}
