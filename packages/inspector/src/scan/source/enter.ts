import type { Arguments, Call, Expression } from '../../python/ast.ts'
import { parametersOf } from './parameters.ts'
import type { Binding, Scope } from './scope.ts'

/** The scope of a function for one call of it: parameters are what the call passes. */
export const enter = (own: Scope, call: Call, caller: Scope): Scope => {
  const { parameters } = own
  if (!parameters) return own
  const passed = passedValues(parameters, call, own.self === undefined ? 0 : 1)
  if (passed.size === 0) return own
  const names = new Map(own.names)
  for (const [name, value] of passed) {
    // What the function itself assigns to a parameter is kept.
    const others = (names.get(name) ?? []).filter(
      ({ kind }) => kind !== 'parameter' && kind !== 'unknown',
    )
    const binding: Binding = { kind: 'value', value, scope: caller }
    names.set(name, [binding, ...others])
  }
  return { ...own, names, effort: caller.effort }
}

const passedValues = (
  parameters: Arguments,
  { args, keywords, line }: Call,
  skipped: number,
): Map<string, Expression> => {
  const places = [...parameters.positionalOnly, ...parameters.positional].slice(skipped)
  const passed = new Map<string, Expression>()
  const starred = args.findIndex(({ kind }) => kind === 'Starred')
  const inOrder = starred === -1 ? args : args.slice(0, starred)
  for (const [at, value] of inOrder.slice(0, places.length).entries())
    passed.set(places[at]?.name ?? '', value)
  const rest = inOrder.slice(places.length)
  if (parameters.varargs && rest.length > 0)
    passed.set(parameters.varargs.name, { kind: 'Tuple', items: rest, line })
  const names = new Set(parametersOf(parameters).map(({ name }) => name))
  for (const { name, value } of keywords)
    if (name !== undefined && names.has(name)) passed.set(name, value)
  return passed
}
