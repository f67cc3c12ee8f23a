import type * as ast from '../ast.ts'
import {
  after,
  BROKEN,
  count,
  exprAt,
  exprs,
  find,
  gather,
  indexOf,
  lineAt,
  nameAt,
  valueAt,
} from '../kids.ts'
import type { Builder, Builders, Kids } from '../kids.ts'
import { noParameters } from './parameters.ts'

export interface CallArguments {
  args: ast.Expression[]
  keywords: ast.Keyword[]
}

/** The value in a row of children without a comma, else all of them as a tuple. */
export const tupleOrOne = (kids: Kids, from = 0, to = count(kids)): ast.Expression => {
  const items = exprs(kids, from, to)
  const [first] = items
  if (first && items.length === 1 && indexOf(kids, ',', from) < 0) return first
  return { kind: 'Tuple', line: lineAt(kids, from), items }
}

/** `a.b`, also as a type in an annotation. */
export const attribute = (kids: Kids): ast.Attribute | typeof BROKEN => {
  const name = exprAt(kids, 2)
  if (name.kind !== 'Name') return BROKEN
  return { kind: 'Attribute', line: kids.line, value: exprAt(kids, 0), attr: name.id }
}

/** What stands between brackets, from child `from` to the closing one; one starred index is a tuple too. */
export const indexOfSubscript = (kids: Kids, from: number): ast.Expression => {
  const index = tupleOrOne(kids, from, count(kids) - 1)
  return index.kind === 'Starred' ? { kind: 'Tuple', line: index.line, items: [index] } : index
}

export const starred = (kids: Kids): ast.Starred => ({
  kind: 'Starred',
  line: kids.line,
  value: exprAt(kids, 1),
})

const expressionList = (kids: Kids): ast.Tuple => ({
  kind: 'Tuple',
  line: kids.line,
  items: exprs(kids),
})

const readArgument = (name: string, value: unknown): ast.Expression | undefined =>
  name === 'keyword_argument' || name === 'dictionary_splat' ? undefined : (value as ast.Expression)

const readKeyword = (name: string, value: unknown): ast.Keyword | undefined => {
  if (name === 'keyword_argument') return value as ast.Keyword
  return name === 'dictionary_splat'
    ? { name: undefined, value: value as ast.Expression }
    : undefined
}

const second: Builder = (kids) => valueAt(kids, 1)

export const expressionBuilders: Builders = {
  attribute,
  subscript: (kids): ast.Subscript => ({
    kind: 'Subscript',
    line: kids.line,
    value: exprAt(kids, 0),
    index: indexOfSubscript(kids, 2),
  }),
  slice: (kids): ast.Slice => {
    const first = indexOf(kids, ':')
    const second = indexOf(kids, ':', first + 1)
    const stop = second < 0 ? count(kids) : second
    return {
      kind: 'Slice',
      line: kids.line,
      lower: exprs(kids, 0, first)[0],
      upper: exprs(kids, first + 1, stop)[0],
      step: second < 0 ? undefined : exprs(kids, second + 1)[0],
    }
  },
  call: (kids): ast.Call => {
    const func = exprAt(kids, 0)
    if (nameAt(kids, 1) !== 'argument_list') {
      return { kind: 'Call', line: kids.line, func, args: [exprAt(kids, 1)], keywords: [] }
    }
    const { args, keywords } = valueAt(kids, 1) as CallArguments
    return { kind: 'Call', line: kids.line, func, args, keywords }
  },
  argument_list: (kids): CallArguments => ({
    args: gather(kids, readArgument),
    keywords: gather(kids, readKeyword),
  }),
  keyword_argument: (kids): ast.Keyword | typeof BROKEN => {
    const name = exprAt(kids, 0)
    return name.kind === 'Name' ? { name: name.id, value: exprAt(kids, 2) } : BROKEN
  },
  lambda: (kids): ast.Lambda => ({
    kind: 'Lambda',
    line: kids.line,
    args: (find(kids, 'lambda_parameters') as ast.Arguments | undefined) ?? noParameters(),
    body: exprAt(kids, count(kids) - 1),
  }),
  list_splat: starred,
  list_splat_pattern: starred,
  dictionary_splat: second,
  dictionary_splat_pattern: second,
  parenthesized_expression: second,
  yield: (kids): ast.Yield | ast.YieldFrom => {
    const source = after(kids, 'from') as ast.Expression | undefined
    if (source) return { kind: 'YieldFrom', line: kids.line, value: source }
    return { kind: 'Yield', line: kids.line, value: exprs(kids)[0] }
  },
  expression_list: expressionList,
  pattern_list: expressionList,
}
