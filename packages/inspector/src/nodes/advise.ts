import { adviceOf } from '../advice.ts'
import type { Interpreter } from '../interpret/interpreter.ts'
import type { ClassValue, FunctionValue, Value } from '../interpret/types.ts'
import { isClass, isFunction, isInstanceValue, isObject } from '../interpret/values/read-value.ts'

/** Sentences for the publisher: for each code the names that it is about. */
export type Advice = Map<string, Set<string>>

export const advise = (advice: Advice, code: string, about: string): void => {
  advice.set(code, (advice.get(code) ?? new Set()).add(about))
}

const MAX_NAMES = 8

/** One sentence for each code, after some of the names. */
export const hintsOf = (advice: Advice): string[] =>
  [...advice].map(([code, names]) => adviceOf(code, listOf([...names])))

/** The sentence of a code after what it is about; none about nothing. */
export const hintAbout = (code: string, about: readonly string[]): string[] =>
  about.length > 0 ? [adviceOf(code, listOf(about))] : []

const listOf = (names: readonly string[]): string => {
  const left = names.length - MAX_NAMES
  return names.slice(0, MAX_NAMES).join(', ') + (left > 0 ? ` and ${left} more` : '')
}

/** Code for a value of the mapping that is no class; undefined for what nobody knows. */
export const adviceOnEntry = (value: Value, isNode: boolean): string | undefined => {
  if (!isObject(value) || NO_ATTRIBUTES.has(value.kind)) return 'entry_ends'
  if (isNode) return isInstanceValue(value) ? 'entry_instance' : undefined
  const isOwn = isFunction(value) || value.kind === 'module' || isClass(value)
  return isOwn ? 'entry_no_node' : undefined
}

/** Kinds of values on which the host cannot set an attribute. */
const NO_ATTRIBUTES = new Set(['list', 'tuple', 'dict', 'set', 'bytes', 'range'])

/** Advises on what keeps the host from showing or running a class whose bases are all known. */
export const adviseOnClass = (
  interpreter: Interpreter,
  advice: Advice,
  { name, cls }: { name: string; cls: ClassValue },
): void => {
  if (!cls.mro.every(isClass) || !isClass(cls.metaclass) || cls.metaclass.home === 'pack') return
  const find = (attribute: string) => interpreter.findInClass(cls, attribute)
  const lacking = ['INPUT_TYPES', 'RETURN_TYPES'].filter((one) => find(one) === undefined)
  if (lacking.length > 0) advise(advice, 'node_incomplete', `${name} (${lacking.join(', ')})`)
  if (wantsClass(find('INPUT_TYPES'))) advise(advice, 'input_types_unbound', name)
  const given = find('FUNCTION')
  const method = given === undefined ? undefined : interpreter.text(given)
  const isMade = ['__init__', '__new__', '__getattr__'].some((one) => isFunction(find(one)))
  if (given === undefined) advise(advice, 'node_without_function', `${name} (no FUNCTION)`)
  else if (method !== undefined && find(method) === undefined && !isMade)
    advise(advice, 'node_without_function', `${name} (FUNCTION is ${method})`)
}

/** A plain function that takes an argument. */
export const wantsClass = (callee: Value | undefined): callee is FunctionValue => {
  if (!isFunction(callee)) return false
  const { positionalOnly, positional } = callee.node.args
  const first = positionalOnly[0] ?? positional[0]
  return first !== undefined && first.default === undefined
}
