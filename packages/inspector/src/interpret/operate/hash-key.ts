import { call } from '../run-code.ts'
import { findInClass } from './class-lookup.ts'
import { isSet } from '../values/read-value.ts'
import type {
  HashKey,
  InstanceValue,
  ObjectValue,
  Runtime,
  SetValue,
  TupleValue,
  Value,
} from '../types.ts'

// Text that starts like a made key gets one itself, so the two never meet.
const MADE = '\0'

/** Returns the key that equal values share; undefined if the value can't be hashed. An unknown is its own key. */
export function hashKey(rt: Runtime, value: Value): HashKey | undefined {
  switch (typeof value) {
    case 'string':
      return value.startsWith(MADE) ? `${MADE}s${value}` : value
    case 'boolean':
      return value ? 1n : 0n
    case 'number':
      return Number.isInteger(value) ? BigInt(value) : value
    case 'bigint':
      return value
    default:
      return value === null ? null : hashObject(rt, value)
  }
}

function hashObject(rt: Runtime, value: ObjectValue) {
  switch (value.kind) {
    case 'list':
    case 'dict':
    case 'view':
      return undefined
    case 'bytes':
      return `${MADE}b${Buffer.from(value.data).toString('latin1')}`
    case 'tuple':
      return hashItems(rt, value, value.items)
    case 'set':
      return value.frozen ? hashItems(rt, value, value.items.values()) : undefined
    case 'instance':
      return hashInstance(rt, value)
    case 'unknown':
      // The same dotted name of a module is the same thing, unless a call or an item made it.
      return value.origin !== 'pack' && /^[\w.]+$/.test(value.name)
        ? `${MADE}u${value.name}`
        : value
    default:
      return value
  }
}

function hashInstance(rt: Runtime, value: InstanceValue): HashKey | undefined {
  const own = findInClass(rt, value.cls, '__hash__')
  if (own === null) return undefined
  if (typeof own === 'object' && own.kind === 'function') {
    const hash = call(rt, own, [value])
    return typeof hash === 'bigint' ? `${MADE}h${hash}` : value
  }
  if (value.payload === undefined) return value
  return hashKey(rt, value.payload)
}

/** Makes the key of a tuple or set. A long one is made once: in a tuple that holds another twice there are 2^depth. */
function hashItems(rt: Runtime, holder: TupleValue | SetValue, items: Iterable<Value>) {
  const known = rt.state.hashes.get(holder)
  if (known !== undefined) return known
  const texts: string[] = []
  for (const item of items) {
    const hash = hashKey(rt, item)
    if (hash === undefined) return undefined
    texts.push(textOfKey(rt, hash))
  }
  rt.budget.step(texts.length >> 4)
  const made = `${MADE}${holder.kind}${(isSet(holder) ? texts.toSorted() : texts).join(',')}`
  if (made.length > rt.budget.limits.stringLength) return undefined
  if (made.length > SHORT) rt.state.hashes.set(holder, made)
  return made
}

/** Longest text within another key; of a longer one stands its number there. */
const SHORT = 64

function textOfKey(rt: Runtime, hash: HashKey): string {
  if (typeof hash === 'object' && hash !== null) return `o${identityOf(rt, hash)}`
  const text = `${typeof hash}${String(hash)}`
  if (text.length <= SHORT) return `${text.length}:${text}`
  const { texts } = rt.state
  const number = texts.get(text) ?? texts.size
  texts.set(text, number)
  return `n${number}`
}

/** A number for each object, by the order in which it was asked for: `id()`. */
export function identityOf(rt: Runtime, object: object): number {
  const known = rt.state.identities.get(object)
  if (known !== undefined) return known
  rt.state.lastIdentity += 1
  rt.state.identities.set(object, rt.state.lastIdentity)
  return rt.state.lastIdentity
}
