import type * as ast from '../ast.ts'
import { BROKEN, count, exprAt, nameAt, repeated, valueAt } from '../children.ts'
import type { Builder, Builders, Children } from '../children.ts'

/** A parameter with the stars before its name, or one of the marks `*` and `/`. */
interface RawParameter {
  stars: '' | '*' | '**'
  parameter: ast.Parameter
}

export const noParameters = (): ast.Arguments => ({
  positionalOnly: [],
  positional: [],
  varargs: undefined,
  keywordOnly: [],
  kwargs: undefined,
})

/** `a, /, b, *c, d=1, **e`; tuples among the parameters were Python 2. */
const parameters = (children: Children): ast.Arguments | typeof BROKEN => {
  const args = noParameters()
  const plain = { seenStar: false }
  for (let index = 0; index < count(children); index += 1) {
    if (
      addParameter(args, plain, readParameter(children, index), nameAt(children, index)) === BROKEN
    )
      return BROKEN
  }
  children.error = errorOf(args)
  return args
}

const errorOf = (args: ast.Arguments): string | undefined => {
  const plain = [...args.positionalOnly, ...args.positional]
  const all = [...plain, args.varargs, ...args.keywordOnly, args.kwargs]
  const twice = repeated(all.flatMap((one) => one?.name || []))
  if (twice !== undefined) return `duplicate argument '${twice}' in function definition`
  const isWrong = plain.some((one, at) => one.default === undefined && plain[at - 1]?.default)
  return isWrong ? 'parameter without a default follows parameter with a default' : undefined
}

const addParameter = (
  args: ast.Arguments,
  state: { seenStar: boolean },
  raw: RawParameter | undefined,
  name: string,
): typeof BROKEN | undefined => {
  if (name === 'tuple_pattern') return BROKEN
  if (name === 'positional_separator') args.positionalOnly = args.positional.splice(0)
  else if (name === 'keyword_separator') state.seenStar = true
  else if (raw?.stars === '**') args.kwargs = raw.parameter
  else if (raw?.stars === '*') {
    args.varargs = raw.parameter
    state.seenStar = true
  } else if (raw) (state.seenStar ? args.keywordOnly : args.positional).push(raw.parameter)
  return undefined
}

const readParameter = (children: Children, index: number): RawParameter | undefined => {
  switch (nameAt(children, index)) {
    case 'identifier':
      return bare('', exprAt(children, index))
    case 'list_splat_pattern':
      return bare('*', exprAt(children, index))
    case 'dictionary_splat_pattern':
      return bare('**', exprAt(children, index))
    case 'typed_parameter':
    case 'default_parameter':
    case 'typed_default_parameter':
      return valueAt(children, index) as RawParameter
    default:
      return undefined
  }
}

const bare = (stars: RawParameter['stars'], expression: ast.Expression): RawParameter => ({
  stars,
  parameter: { name: nameOf(expression), annotation: undefined, default: undefined },
})

const nameOf = (expression: ast.Expression): string => {
  if (expression.kind === 'Starred') return nameOf(expression.value)
  return expression.kind === 'Name' ? expression.id : ''
}

/** `name: annotation`, `name=default` or both, each at its place among the children. */
const detailed =
  (places: { annotation?: number; default?: number }): Builder =>
  (children) => {
    const raw = readParameter(children, 0)
    if (!raw?.parameter.name) return BROKEN
    const { parameter } = raw
    if (places.annotation !== undefined) parameter.annotation = exprAt(children, places.annotation)
    if (places.default !== undefined) parameter.default = exprAt(children, places.default)
    return raw
  }

export const parameterBuilders: Builders = {
  parameters,
  lambda_parameters: parameters,
  typed_parameter: detailed({ annotation: 2 }),
  default_parameter: detailed({ default: 2 }),
  typed_default_parameter: detailed({ annotation: 2, default: 4 }),
}
