import { truthOf } from '../../operate/truth.ts'
import { callSpecial } from '../../operate/call.ts'
import { orElse } from '../../values/make-value.ts'
import type { Runtime } from '../../runtime.ts'
import type {
  ClassValue,
  DictValue,
  FunctionValue,
  InstanceValue,
  Kwargs,
  ListValue,
  TupleValue,
  Truth,
  Value,
} from '../../values/value.ts'

/** The argument at that position or of that name. */
export const argumentOf = (
  args: readonly Value[],
  kwargs: Kwargs,
  index: number,
  name: string,
): Value | undefined => orElse(args[index], () => kwargs.get(name))

/** The builtin value inside: a str, int, list … or what an instance of a subclass of one holds. */
export const contentOf = (value: Value | undefined): Value | undefined =>
  isInstanceValue(value) && value.payload !== undefined ? value.payload : value

/** Text of a str or of an instance of a subclass. */
export const textOf = (value: Value | undefined): string | undefined => {
  const content = contentOf(value)
  return typeof content === 'string' ? content : undefined
}

/** Text of a path: a str, or anything with `__fspath__`. */
export const pathOf = (rt: Runtime, value: Value | undefined): string | undefined => {
  const text = textOf(value)
  if (text !== undefined || value === undefined) return text
  const made = callSpecial(rt, value, '__fspath__', [])
  return made === undefined ? undefined : textOf(made)
}

/** An int or bool as a number; undefined for one that is no exact double. */
export const intOf = (value: Value | undefined): number | undefined => {
  const content = contentOf(value)
  if (typeof content === 'boolean') return Number(content)
  if (typeof content !== 'bigint') return undefined
  const number = Number(content)
  return Number.isSafeInteger(number) ? number : undefined
}

/** An int, float or bool as a number of Python. */
export const numberOf = (value: Value | undefined): bigint | number | undefined => {
  const content = contentOf(value)
  if (typeof content === 'boolean') return BigInt(content)
  return typeof content === 'bigint' || typeof content === 'number' ? content : undefined
}

/** Truth of an optional flag. */
export const flagOf = (rt: Runtime, value: Value | undefined, fallback: boolean): Truth =>
  value === undefined ? fallback : truthOf(rt, value)

/** Texts of a list or tuple that holds nothing else. */
export const textsOf = (value: Value | undefined): string[] | undefined => {
  const content = contentOf(value)
  if (!isSequence(content) || content.rest) return undefined
  const texts = content.items.map(textOf)
  return texts.every((text) => text !== undefined) ? texts : undefined
}

export const isSequence = (value: Value | undefined): value is ListValue | TupleValue =>
  typeof value === 'object' && value !== null && (value.kind === 'list' || value.kind === 'tuple')

export const isDict = (value: Value | undefined): value is DictValue =>
  typeof value === 'object' && value?.kind === 'dict'

export const isClass = (value: Value | undefined): value is ClassValue =>
  typeof value === 'object' && value?.kind === 'class'

export const isFunction = (value: Value | undefined): value is FunctionValue =>
  typeof value === 'object' && value?.kind === 'function'

export const isInstanceValue = (value: Value | undefined): value is InstanceValue =>
  typeof value === 'object' && value?.kind === 'instance'
