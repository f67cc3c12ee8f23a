import type * as ast from '../ast.ts'
import { at, block, BROKEN, exprAt, find, has, nameAt, node, values } from '../children.ts'
import type { Builders, Children } from '../children.ts'
import { asPattern } from './patterns.ts'

/** `context as target`; the grammar has it wherever an expression may stand, Python in few places. */
export interface AsPattern {
  kind: 'AsPattern'
  context: ast.Expression
  target: ast.Expression
}

type Item = ast.With['items'][number]

/** `with (a, *b):` and `with (a := b, c):` have a tuple after all. */
const isTuple = (all: (ast.Expression | AsPattern)[]): boolean =>
  all.length === 0 || all.some(({ kind }) => kind === 'Starred' || kind === 'NamedExpr')

const tupleItem = (line: number, all: (ast.Expression | AsPattern)[]): Item => ({
  context: { kind: 'Tuple', line, items: all as ast.Expression[] },
  target: undefined,
})

const item = (value: ast.Expression | AsPattern): Item =>
  value.kind === 'AsPattern'
    ? { context: value.context, target: value.target }
    : { context: value, target: undefined }

const as = (children: Children): unknown => {
  if (children.parent === 'case_pattern') return asPattern(children)
  if (!mayHoldAs(children)) return BROKEN
  const whole: AsPattern = {
    kind: 'AsPattern',
    context: exprAt(children, 0),
    target: exprAt(children, 2),
  }
  return whole
}

/** These hand the target on to the node around them. */
const LAST_OF = new Set(['conditional_expression', 'lambda'])

export const mayHoldAs = ({ parent, grandparent }: Children): boolean =>
  parent === 'with_item' ||
  parent === 'except_clause' ||
  LAST_OF.has(parent) ||
  (grandparent === 'with_item' && (parent === 'parenthesized_expression' || parent === 'tuple'))

export const withBuilders: Builders = {
  with_statement: node<ast.With>('With', {
    items: (children) => (find(children, 'with_clause') as Item[] | undefined) ?? [],
    body: block,
  }),
  /** `with (a as b, c):` comes as one item that is a tuple, or with parentheses of the clause. */
  with_clause: (children): Item[] => {
    const all = values(children) as (ast.Expression | AsPattern)[]
    const [only] = all
    if (nameAt(children, 0) === 'tuple' && all.length === 1 && only?.kind === 'Tuple') {
      return isTuple(only.items) ? [item(only)] : only.items.map(item)
    }
    const inParentheses = nameAt(children, 0) === '(' && has(children, ',')
    return inParentheses && isTuple(all) ? [tupleItem(children.line, all)] : all.map(item)
  },
  with_item: at(0),
  as_pattern: as,
  as_pattern_target: at(0),
}
