import { setEntry } from './mapping.ts'
import { makeEmptyDict, makeTuple, makeUnknown, orElse } from '../values/make-value.ts'
import type { CallArguments } from '../values/call-arguments.ts'
import type { Runtime } from '../runtime.ts'
import type { FunctionValue, Value } from '../values/value.ts'
import type { Arguments, Parameter } from '../../python/ast.ts'

/**
 * The names a call binds. Lenient where Python raises TypeError: a missing argument is unknown, one too many is dropped,
 * because a wrong count here comes more often from our ignorance than from the pack.
 */
export function bindParameters(
  rt: Runtime,
  fn: FunctionValue,
  call: CallArguments,
): Map<string, Value> {
  const names = new Map<string, Value>()
  const { args } = fn.node
  bindPositional(args, call, names)
  const left = bindKeywords(args, call, names)
  if (args.kwargs) names.set(args.kwargs.name, dictOf(rt, left, call.rest))
  fillIn(fn, names)
  return names
}

function bindPositional(args: Arguments, call: CallArguments, names: Map<string, Value>): void {
  const { positionalOnly, positional, varargs } = args
  let index = 0
  for (const list of [positionalOnly, positional]) {
    for (const parameter of list) {
      const value = call.args[index]
      index += 1
      if (value !== undefined) names.set(parameter.name, value)
    }
  }
  if (varargs) names.set(varargs.name, makeTuple(call.args.slice(index), call.rest))
}

/** Gives the keyword arguments that no parameter takes. */
function bindKeywords(
  args: Arguments,
  call: CallArguments,
  names: Map<string, Value>,
): [string, Value][] {
  if (call.kwargs.size === 0) return []
  const left: [string, Value][] = []
  for (const [name, value] of call.kwargs) {
    if (!names.has(name) && isNamed(args, name)) names.set(name, value)
    else left.push([name, value])
  }
  return left
}

function isNamed(args: Arguments, name: string): boolean {
  const isIt = (parameter: Parameter) => parameter.name === name
  return args.positional.some(isIt) || args.keywordOnly.some(isIt)
}

function dictOf(rt: Runtime, entries: [string, Value][], rest: boolean): Value {
  const dict = makeEmptyDict(rest)
  for (const [name, value] of entries) setEntry(rt, dict, name, value)
  return dict
}

/** Defaults, then unknowns for what is still missing. */
function fillIn(fn: FunctionValue, names: Map<string, Value>): void {
  const { positionalOnly, positional, keywordOnly } = fn.node.args
  for (const list of [positionalOnly, positional, keywordOnly]) {
    for (const { name } of list) {
      if (names.has(name)) continue
      names.set(
        name,
        orElse(fn.defaults.get(name), () => makeUnknown(name)),
      )
    }
  }
}
