import type { Arguments, Expression, Parameter } from '../../python/ast.ts'
import { bind, type Scope } from './scope.ts'

export const parametersOf = (args: Arguments): Parameter[] => [
  ...args.positionalOnly,
  ...args.positional,
  ...args.keywordOnly,
]

export const defaultsOf = (args: Arguments): (Expression | undefined)[] =>
  parametersOf(args).map((parameter) => parameter.default)

/** Binds parameters in a function; their defaults are read in the scope outside of it. */
export const bindParameters = (args: Arguments, own: Scope, outside: Scope): void => {
  own.parameters = args
  for (const parameter of parametersOf(args))
    bind(own.names, parameter.name, {
      kind: 'parameter',
      value: parameter.default,
      scope: outside,
    })
  for (const rest of [args.varargs, args.kwargs])
    if (rest) bind(own.names, rest.name, { kind: 'unknown' })
}
