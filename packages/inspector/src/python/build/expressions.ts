import type * as ast from '../ast.ts'
import {
  after,
  at,
  BROKEN,
  count,
  exprAt,
  exprs,
  find,
  first,
  gather,
  indexOf,
  lineAt,
  nameAt,
  node,
  repeated,
  valueAt,
} from '../children.ts'
import type { Builders, Children } from '../children.ts'
import { noParameters } from './parameters.ts'

export interface CallArguments {
  args: ast.Expression[]
  keywords: ast.Keyword[]
}

/** The value in a row of children without a comma, else all of them as a tuple. */
export const tupleOrOne = (children: Children, from = 0, to = count(children)): ast.Expression => {
  const items = exprs(children, from, to)
  const [first] = items
  if (first && items.length === 1 && indexOf(children, ',', from) < 0) return first
  return { kind: 'Tuple', line: lineAt(children, from), items }
}

/** `a.b`, also as a type in an annotation. */
export const attribute = (children: Children): ast.Attribute | typeof BROKEN => {
  const name = exprAt(children, 2)
  if (name.kind !== 'Name') return BROKEN
  return { kind: 'Attribute', line: children.line, value: exprAt(children, 0), attr: name.id }
}

/** Builds the index between brackets, from child `from` to the closing one; one starred index is a tuple too. */
export const indexOfSubscript = (children: Children, from: number): ast.Expression => {
  const index = tupleOrOne(children, from, count(children) - 1)
  return index.kind === 'Starred' ? { kind: 'Tuple', line: index.line, items: [index] } : index
}

export const starred = node<ast.Starred>('Starred', { value: at(1) })

const expressionList = node<ast.Tuple>('Tuple', { items: exprs })

const readArgument = (name: string, value: unknown): ast.Expression | undefined =>
  name === 'keyword_argument' || name === 'dictionary_splat' ? undefined : (value as ast.Expression)

const readKeyword = (name: string, value: unknown): ast.Keyword | undefined => {
  if (name === 'keyword_argument') return value as ast.Keyword
  return name === 'dictionary_splat'
    ? { name: undefined, value: value as ast.Expression }
    : undefined
}

export const expressionBuilders: Builders = {
  attribute,
  subscript: node<ast.Subscript>('Subscript', {
    value: at(0),
    index: (children) => indexOfSubscript(children, 2),
  }),
  slice: (children): ast.Slice => {
    const first = indexOf(children, ':')
    const second = indexOf(children, ':', first + 1)
    const stop = second < 0 ? count(children) : second
    return {
      kind: 'Slice',
      line: children.line,
      lower: exprs(children, 0, first)[0],
      upper: exprs(children, first + 1, stop)[0],
      step: second < 0 ? undefined : exprs(children, second + 1)[0],
    }
  },
  call: (children): ast.Call => {
    const func = exprAt(children, 0)
    if (nameAt(children, 1) !== 'argument_list') {
      return { kind: 'Call', line: children.line, func, args: [exprAt(children, 1)], keywords: [] }
    }
    const { args, keywords } = valueAt(children, 1) as CallArguments
    return { kind: 'Call', line: children.line, func, args, keywords }
  },
  argument_list: (children): CallArguments => {
    const args = gather(children, readArgument)
    const keywords = gather(children, readKeyword)
    const twice = repeated(keywords.flatMap(({ name }) => name ?? []))
    if (twice !== undefined) children.error = `keyword argument repeated: ${twice}`
    return { args, keywords }
  },
  keyword_argument: (children): ast.Keyword | typeof BROKEN => {
    const name = exprAt(children, 0)
    return name.kind === 'Name' ? { name: name.id, value: exprAt(children, 2) } : BROKEN
  },
  lambda: node<ast.Lambda>('Lambda', {
    args: (children) =>
      (find(children, 'lambda_parameters') as ast.Arguments | undefined) ?? noParameters(),
    body: (children) => exprAt(children, count(children) - 1),
    isGenerator: ({ bodyYields }) => bodyYields,
  }),
  list_splat: starred,
  list_splat_pattern: starred,
  dictionary_splat: at(1),
  dictionary_splat_pattern: at(1),
  parenthesized_expression: at(1),
  yield: (children): ast.Yield | ast.YieldFrom => {
    const source = after(children, 'from') as ast.Expression | undefined
    if (source) return { kind: 'YieldFrom', line: children.line, value: source }
    return { kind: 'Yield', line: children.line, value: first(children) }
  },
  expression_list: expressionList,
  pattern_list: expressionList,
}
