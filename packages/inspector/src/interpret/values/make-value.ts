import { isIterator, isSequence, isUnknown } from './read-value.ts'
import type {
  BytesValue,
  ClassValue,
  DictValue,
  InstanceValue,
  IteratorValue,
  Kwargs,
  ListValue,
  ModuleValue,
  Origin,
  SingletonValue,
  TupleValue,
  UnknownCall,
  UnknownValue,
  Value,
} from '../types.ts'

export const NO_KWARGS: Kwargs = new Map()

export const ELLIPSIS: SingletonValue = { kind: 'singleton', name: 'Ellipsis' }
export const NOT_IMPLEMENTED: SingletonValue = { kind: 'singleton', name: 'NotImplemented' }

export function makeList(items: Value[], rest = false): ListValue {
  return { kind: 'list', items, rest }
}

export function makeTuple(items: Value[], rest = false): TupleValue {
  return { kind: 'tuple', items, rest }
}

/** Marks an item that may not be there, or may stand in another place. */
export function mark(
  holder: ListValue | TupleValue | IteratorValue,
  as: 'maybe' | 'unordered',
  item: Value,
): void {
  ;(holder[as] ??= new Set()).add(item)
}

/** Marks in `made` what is not decided of the items of its sources. */
export function inheritUndecided<T extends Value>(made: T, ...sources: (Value | undefined)[]): T {
  if (!isSequence(made) && !isIterator(made)) return made
  for (const source of sources) {
    if (!isSequence(source) && !isIterator(source)) continue
    if (source.maybe) made.maybe = new Set([...(made.maybe ?? []), ...source.maybe])
    if (source.unordered) made.unordered = new Set([...(made.unordered ?? []), ...source.unordered])
  }
  return made
}

export function makeBytes(data: Uint8Array): BytesValue {
  return { kind: 'bytes', data }
}

export function makeEmptyDict(rest = false): DictValue {
  return { kind: 'dict', values: new Map(), keys: undefined, rest }
}

/** A dict that shares its entries with the names of a module, class or instance. */
export function makeNamespaceDict(names: Map<string, Value>, rest = false): DictValue {
  return { kind: 'dict', values: names, keys: undefined, rest }
}

export function makeInstance(
  cls: ClassValue,
  payload?: Value,
  native?: unknown,
  attributes?: Record<string, Value>,
): InstanceValue {
  return {
    kind: 'instance',
    cls,
    attributes: new Map(attributes && Object.entries(attributes)),
    payload,
    native,
  }
}

export function makeIterator(type: string, next: () => Value | undefined): IteratorValue {
  return { kind: 'iterator', type, next, rest: false }
}

/** A module of which nothing runs. */
export function makeModule(
  parts: Omit<ModuleValue, 'kind' | 'running' | 'lost' | 'dict'>,
): ModuleValue {
  return { kind: 'module', ...parts, running: 0, lost: new Set(), dict: undefined }
}

/** An iterator over items that are there already. */
export function makeItemsIterator(type: string, items: Value[], rest = false): IteratorValue {
  let index = 0
  return { kind: 'iterator', type, next: () => items[index++], rest }
}

// Names grow with every attribute and call of an unknown; longer ones serve no reader.
const NAME_LENGTH = 200

export function makeUnknown(
  name: string,
  origin: Origin = 'pack',
  call?: UnknownCall,
): UnknownValue {
  const cut = name.length > NAME_LENGTH ? `${name.slice(0, NAME_LENGTH)}…` : name
  return { kind: 'unknown', name: cut, origin, call, truth: undefined }
}

/** An unknown that is an item or attribute of a value. */
export function makePart(name: string, origin: Origin, from: Value): UnknownValue {
  return Object.assign(makeUnknown(name, origin), { from })
}

/** The value, unless it is missing: None is a value, which `??` would pass over. */
export function orElse<T extends Value | undefined>(
  value: Value | undefined,
  other: () => T,
): Value | T {
  return value === undefined ? other() : value
}

/** Calls `make` with a value that is known; for any other it gives undefined, which is unknown. */
export function ifKnown<T, Made>(value: T | undefined, make: (value: T) => Made): Made | undefined {
  return value === undefined ? undefined : make(value)
}

/** Result of an operation that can't be computed; it comes from where its unknown operand comes from. */
export function unknownResult(left: Value, right: Value): Value {
  const source = isUnknown(left) ? left : isUnknown(right) ? right : undefined
  return makeUnknown('operation()', source?.origin ?? 'pack')
}
