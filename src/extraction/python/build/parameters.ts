import type { Arguments, Expression, Parameter } from '../ast.ts'
import { BROKEN, count, exprAt, nameAt, valueAt } from '../kids.ts'
import type { Builders, Kids } from '../kids.ts'

/** A parameter with the stars before its name, or one of the marks `*` and `/`. */
interface RawParameter {
  stars: '' | '*' | '**'
  parameter: Parameter
}

/** `a, /, b, *c, d=1, **e`; tuples among the parameters were Python 2. */
const parameters = (kids: Kids): Arguments | typeof BROKEN => {
  const args: Arguments = {
    positionalOnly: [],
    positional: [],
    varargs: undefined,
    keywordOnly: [],
    kwargs: undefined,
  }
  const plain = { seenStar: false }
  for (let index = 0; index < count(kids); index += 1) {
    if (addParameter(args, plain, readParameter(kids, index), nameAt(kids, index)) === BROKEN)
      return BROKEN
  }
  return args
}

const addParameter = (
  args: Arguments,
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

const readParameter = (kids: Kids, index: number): RawParameter | undefined => {
  switch (nameAt(kids, index)) {
    case 'identifier':
      return bare('', exprAt(kids, index))
    case 'list_splat_pattern':
      return bare('*', exprAt(kids, index))
    case 'dictionary_splat_pattern':
      return bare('**', exprAt(kids, index))
    case 'typed_parameter':
    case 'default_parameter':
    case 'typed_default_parameter':
      return valueAt(kids, index) as RawParameter
    default:
      return undefined
  }
}

const bare = (stars: RawParameter['stars'], expression: Expression): RawParameter => ({
  stars,
  parameter: { name: nameOf(expression), annotation: undefined, default: undefined },
})

const nameOf = (expression: Expression): string => {
  if (expression.kind === 'Starred') return nameOf(expression.value)
  return expression.kind === 'Name' ? expression.id : ''
}

const typed = (kids: Kids): RawParameter | typeof BROKEN => {
  const raw = readParameter(kids, 0)
  if (!raw?.parameter.name) return BROKEN
  raw.parameter.annotation = exprAt(kids, 2)
  return raw
}

const withDefault = (kids: Kids): RawParameter | typeof BROKEN => {
  const raw = readParameter(kids, 0)
  if (!raw?.parameter.name) return BROKEN
  raw.parameter.default = exprAt(kids, 2)
  return raw
}

const typedWithDefault = (kids: Kids): RawParameter | typeof BROKEN => {
  const raw = typed(kids)
  if (raw !== BROKEN) raw.parameter.default = exprAt(kids, 4)
  return raw
}

export const parameterBuilders: Builders = {
  parameters,
  lambda_parameters: parameters,
  typed_parameter: typed,
  default_parameter: withDefault,
  typed_default_parameter: typedWithDefault,
}
