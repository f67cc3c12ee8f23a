import { less, sort } from '../operate/order.ts'
import { truthOf } from '../operate/truth.ts'
import { call, callSpecial } from '../operate/call.ts'
import { formatValue, reprOf } from '../operate/text-of.ts'
import { iterate, lengthOfValue, readItems } from '../operate/iterate.ts'
import { inheritUndecided, makeList } from '../values/make-value.ts'
import { binary } from '../operate/operator.ts'
import { intOf, numberOf, payloadOf, textOf } from '../values/read-value.ts'
import type { Kwargs, NativeCall, Runtime, Truth, Value } from '../types.ts'
import { roundToInt } from '../text/number/round.ts'

/** Builtin functions about numbers, text and items. */
export const VALUE_FUNCTIONS: Record<string, NativeCall> = {
  len: (rt, [value]) => {
    const length = value === undefined ? undefined : lengthOfValue(rt, value)
    return length === undefined ? undefined : BigInt(length)
  },
  repr: (rt, [value]) => (value === undefined ? undefined : reprOf(rt, value)),
  format: (rt, [value, spec]) => {
    const text = spec === undefined ? '' : textOf(spec)
    return value === undefined || text === undefined ? undefined : formatValue(rt, value, text)
  },
  chr: (_, [value]) => {
    const code = intOf(value)
    return code === undefined || code < 0n || code > 0x10ffffn
      ? undefined
      : String.fromCodePoint(Number(code))
  },
  abs: (rt, [value]) => {
    const own = value === undefined ? undefined : callSpecial(rt, value, '__abs__', [])
    if (own !== undefined) return own
    const number = numberOf(value)
    if (typeof number === 'number') return Math.abs(number)
    return number === undefined || number >= 0 ? number : -number
  },
  round: (rt, args, kwargs) => round(rt, args, kwargs),
  sum: (rt, args, kwargs) => sum(rt, args, kwargs),
  min: (rt, args, kwargs) => extreme(rt, args, kwargs, (a, b) => less(rt, a, b)),
  max: (rt, args, kwargs) => extreme(rt, args, kwargs, (a, b) => less(rt, b, a)),
  any: (rt, [value]) => decide(rt, value, true),
  all: (rt, [value]) => decide(rt, value, false),
  sorted: (rt, [value], kwargs) => {
    if (value === undefined || iterate(rt, value) === undefined) return undefined
    const { items, rest } = readItems(rt, value)
    const list = inheritUndecided(makeList(items, rest), payloadOf(value))
    return Object.assign(list, sort(rt, items, kwargs))
  },
}

function round(rt: Runtime, args: readonly Value[], kwargs: Kwargs): Value | undefined {
  const value = args[0] ?? kwargs.get('number')
  const digits = args[1] ?? kwargs.get('ndigits') ?? null
  if (value === undefined) return undefined
  const own = callSpecial(rt, value, '__round__', digits === null ? [] : [digits])
  if (own !== undefined) return own
  const number = numberOf(value)
  return number === undefined || digits !== null ? undefined : roundToInt(number)
}

function sum(rt: Runtime, args: readonly Value[], kwargs: Kwargs): Value | undefined {
  const [value] = args
  if (value === undefined || iterate(rt, value) === undefined) return undefined
  const { items, rest } = readItems(rt, value)
  let total: Value = args[1] ?? kwargs.get('start') ?? 0n
  for (const item of items) {
    rt.budget.step(1)
    total = binary(rt, '+', total, item)
  }
  return rest ? undefined : total
}

/** `min`, `max`: the first item that comes `before` all others. */
function extreme(
  rt: Runtime,
  args: readonly Value[],
  kwargs: Kwargs,
  before: (a: Value, b: Value) => Truth,
): Value | undefined {
  const [only] = args
  if (only === undefined) return undefined
  const { items, rest } = args.length === 1 ? readItems(rt, only) : { items: args, rest: false }
  const [first, ...others] = items
  if (rest) return undefined
  if (first === undefined) return kwargs.get('default')
  const key = kwargs.get('key') ?? null
  const keyOf = (item: Value) => (key === null ? item : call(rt, key, [item]))
  let best: { item: Value; key: Value } = { item: first, key: keyOf(first) }
  for (const item of others) {
    rt.budget.step(1)
    const candidate = { item, key: keyOf(item) }
    const truth = before(candidate.key, best.key)
    if (truth === undefined) return undefined
    if (truth) best = candidate
  }
  return best.item
}

/** `any` looks for a true item, `all` for a false one. */
function decide(rt: Runtime, value: Value | undefined, wanted: boolean): Value | undefined {
  const iterator = value === undefined ? undefined : iterate(rt, value)
  if (!iterator) return undefined
  let undecided = false
  let rounds = 0
  for (let item = iterator.next(); item !== undefined; item = iterator.next()) {
    const truth = truthOf(rt, item)
    if (truth === wanted) return wanted
    if (truth === undefined) undecided = true
    rt.budget.step(1)
    rounds += 1
    if (rounds > rt.budget.limits.forItems) return undefined
  }
  return undecided || iterator.rest ? undefined : !wanted
}
