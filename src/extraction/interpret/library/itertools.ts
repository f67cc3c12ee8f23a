import { combinations, permutations, product } from './itertools-combine.ts'
import { eachItem, makeLazy } from './support/lazy.ts'
import type { LazyEnd } from './support/lazy.ts'
import { functionsOf } from './support/names.ts'
import { argumentOf } from '../operate/arguments.ts'
import { call } from '../operate/call.ts'
import { equals } from '../operate/compare.ts'
import { readItems } from '../operate/iterate.ts'
import { binary } from '../operate/operator.ts'
import { truthOf } from '../operate/truth.ts'
import type { Runtime } from '../runtime.ts'
import { makeItemsIterator, makeTuple, orElse } from '../values/make-value.ts'
import { nativeFunction, nativeModule } from '../values/native.ts'
import { countOf } from '../values/payload.ts'
import type { ModuleValue, NativeCall, NativeValue, Value } from '../values/value.ts'

/** `itertools`: lazy, so that endless ones are cut by who reads them. */
export const makeItertools = (): ModuleValue =>
  nativeModule('itertools', [
    ['chain', makeChain()],
    ...functionsOf('itertools', {
      ...FUNCTIONS,
      combinations,
      permutations,
      product,
    }),
  ])

type Generate = (rt: Runtime, end: LazyEnd, args: Value[]) => Generator<Value, void>

/** A function whose arguments must all be there. */
const lazy =
  (needed: number, generate: Generate): NativeCall =>
  (rt, args) =>
    args.length < needed ? undefined : makeLazy(rt, 'generator', (end) => generate(rt, end, args))

function* chainItems(rt: Runtime, end: LazyEnd, sources: Value[]): Generator<Value, void> {
  for (const source of sources) yield* eachItem(rt, source, end)
}

const makeChain = (): NativeValue => {
  const chain = nativeFunction('itertools.chain', lazy(0, chainItems))
  const fromIterable = lazy(1, function* from(rt, end, [source = null]) {
    for (const item of eachItem(rt, source, end)) yield* eachItem(rt, item, end)
  })
  chain.attributes = new Map([
    ['from_iterable', nativeFunction('itertools.chain.from_iterable', fromIterable)],
  ])
  // `chain(*unknown)` still gives what is known, and perhaps more.
  chain.callWithRest = (rt, args) =>
    makeLazy(rt, 'generator', (end) => {
      end.rest = true
      return chainItems(rt, end, args)
    })
  return chain
}

/** Tests that can't be decided let the item pass. */
const holds = (rt: Runtime, test: Value, item: Value): boolean =>
  truthOf(rt, test === null ? item : call(rt, test, [item])) !== false

function* count(rt: Runtime, _end: LazyEnd, [start = 0n, step = 1n]: Value[]) {
  for (let at = start; ; at = binary(rt, '+', at, step)) yield at
}

function* slice(rt: Runtime, end: LazyEnd, [source = null, ...bounds]: Value[]) {
  const [first, last, step] = bounds.length < 2 ? [0n, bounds[0], 1n] : bounds
  const [start, stop] = [countOf(orNone(first, 0n)), last === null ? Infinity : countOf(last)]
  const every = countOf(orNone(step, 1n))
  if (start === undefined || stop === undefined || every === undefined || every < 1) {
    end.rest = true
    return
  }
  let at = 0
  if (stop <= 0) return
  for (const item of eachItem(rt, source, end)) {
    if (at >= start && (at - start) % every === 0) yield item
    at += 1
    if (at >= stop) return
  }
}

const orNone = (value: Value | undefined, fallback: Value): Value =>
  value === undefined || value === null ? fallback : value

/** `zip_longest(*sources, fillvalue=None)`. */
const zipLongest: NativeCall = (rt, args, kwargs) => {
  const fill = orElse(kwargs.get('fillvalue'), () => null)
  const columns = args.map((arg) => readItems(rt, arg))
  const length = Math.max(0, ...columns.map(({ items }) => items.length))
  if (!rt.budget.allowItems(length * columns.length)) return undefined
  const rows = Array.from({ length }, (_, at) =>
    makeTuple(columns.map(({ items }) => orElse(items[at], () => fill))),
  )
  return makeItemsIterator(
    'generator',
    rows,
    columns.some(({ rest }) => rest),
  )
}

/** Neighbours of one key stand together; each group is a list that is read already. */
const groupBy: NativeCall = (rt, args, kwargs) => {
  const source = args[0]
  const key = orElse(argumentOf(args, kwargs, 1, 'key'), () => null)
  if (source === undefined) return undefined
  const { items, rest } = readItems(rt, source)
  const groups: { key: Value; items: Value[] }[] = []
  for (const item of items) {
    const own = key === null ? item : call(rt, key, [item])
    const last = groups.at(-1)
    if (last !== undefined && equals(rt, last.key, own) === true) last.items.push(item)
    else groups.push({ key: own, items: [item] })
  }
  const pairs = groups.map((group) =>
    makeTuple([group.key, makeItemsIterator('generator', group.items)]),
  )
  return makeItemsIterator('generator', pairs, rest)
}

const FUNCTIONS: Record<string, NativeCall> = {
  count: (rt, args, kwargs) => {
    const start = orElse(argumentOf(args, kwargs, 0, 'start'), () => 0n)
    const step = orElse(argumentOf(args, kwargs, 1, 'step'), () => 1n)
    return makeLazy(rt, 'generator', (end) => count(rt, end, [start, step]))
  },
  repeat: (rt, args, kwargs) => {
    const times = argumentOf(args, kwargs, 1, 'times')
    const most = times === undefined ? Infinity : countOf(times)
    const [item] = args
    if (item === undefined || most === undefined) return undefined
    return makeLazy(rt, 'generator', function* again() {
      for (let left = most; left > 0; left -= 1) yield item
    })
  },
  cycle: lazy(1, function* cycle(rt, end, [source = null]) {
    const items: Value[] = []
    for (const item of eachItem(rt, source, end)) {
      items.push(item)
      yield item
    }
    while (items.length > 0) yield* items
  }),
  islice: lazy(2, slice),
  takewhile: lazy(2, function* take(rt, end, [test = null, source = null]) {
    for (const item of eachItem(rt, source, end)) {
      if (!holds(rt, test, item)) return
      yield item
    }
  }),
  batched: lazy(2, function* batches(rt, end, [source = null, size = null]) {
    const most = countOf(size) ?? 1
    let batch: Value[] = []
    for (const item of eachItem(rt, source, end)) {
      batch.push(item)
      if (batch.length >= most) {
        yield makeTuple(batch)
        batch = []
      }
    }
    if (batch.length > 0) yield makeTuple(batch)
  }),
  groupby: groupBy,
  zip_longest: zipLongest,
}
