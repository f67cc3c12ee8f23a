import { intOf, isIterator, payloadOf } from '../values/read-value.ts'
import { raise } from '../operate/raise.ts'
import { call, callSpecial } from '../operate/call.ts'
import { iterate, readItems } from '../operate/iterate.ts'
import {
  inheritUndecided,
  makeItemsIterator,
  makeIterator,
  makeTuple,
  mark,
} from '../values/make-value.ts'
import type { Definition, NativeClass } from '../values/native.ts'
import type { IteratorValue, Kwargs, Runtime, Value } from '../types.ts'
import { rangeLength, truthOf } from '../operate/truth.ts'
import { CONTAINER_METHODS, ITEM_METHODS, VALUE_METHODS } from './payload-methods.ts'

const RANGE: Definition = {
  name: 'range',
  construct: (_, _cls, args) => {
    const numbers = args.map((item) => intOf(item)).filter((item) => item !== undefined)
    const [first, second, step = 1n] = numbers
    if (first === undefined || numbers.length < args.length || step === 0n) return undefined
    return second === undefined
      ? { kind: 'range', start: 0n, stop: first, step: 1n }
      : { kind: 'range', start: first, stop: second, step }
  },
  methods: { ...VALUE_METHODS, ...CONTAINER_METHODS, ...ITEM_METHODS },
}

const SLICE: Definition = { name: 'slice', construct: () => undefined }

/** Iterators over all of them; undefined if one can't be iterated. */
function iterators(rt: Runtime, values: readonly Value[]): IteratorValue[] | undefined {
  const found = values.map((value) => iterate(rt, value)).filter((item) => item !== undefined)
  return found.length === values.length ? found : undefined
}

/** The next item of each; undefined as soon as one has ended, whose rest `to` then gets. */
function nextOfEach(sources: readonly IteratorValue[], to: IteratorValue): Value[] | undefined {
  const items: Value[] = []
  for (const source of sources) {
    const item = source.next()
    if (item === undefined) {
      to.rest = source.rest
      return undefined
    }
    items.push(item)
  }
  return items
}

/** The item, which stands in another place where those of a source may. */
function inheritOrder(made: IteratorValue, item: Value, sources: IteratorValue[]): Value {
  if (sources.some(({ unordered }) => unordered)) mark(made, 'unordered', item)
  return item
}

const ZIP: Definition = {
  name: 'zip',
  construct: (rt, _cls, args) => {
    const sources = iterators(rt, args)
    if (!sources) return undefined
    const zip = makeIterator('zip', () => {
      const items = sources.length === 0 ? undefined : nextOfEach(sources, zip)
      rt.budget.step(1)
      return items && inheritOrder(zip, makeTuple(items), sources)
    })
    return zip
  },
}

const MAP: Definition = {
  name: 'map',
  construct: (rt, _cls, [fn, ...args]) => {
    const sources = iterators(rt, args)
    if (fn === undefined || !sources || sources.length === 0) return undefined
    const map = makeIterator('map', () => {
      const items = nextOfEach(sources, map)
      rt.budget.step(1)
      return items && inheritOrder(map, call(rt, fn, items), sources)
    })
    return map
  },
}

/** `filter`: items that can't be decided are kept, with a mark. */
const FILTER: Definition = {
  name: 'filter',
  construct: (rt, _cls, [test, value]) => {
    const source = value === undefined ? undefined : iterate(rt, value)
    if (!source || test === undefined) return undefined
    const filter = makeIterator('filter', () => {
      for (let item = source.next(); item !== undefined; item = source.next()) {
        rt.budget.step(1)
        const truth = truthOf(rt, test === null ? item : call(rt, test, [item]))
        if (truth === undefined) mark(filter, 'maybe', item)
        if (truth !== false) return item
      }
      filter.rest = source.rest
      return undefined
    })
    return inheritUndecided(filter, source)
  },
}

const ENUMERATE: Definition = {
  name: 'enumerate',
  construct: (rt, _cls, args, kwargs) => enumerate(rt, args, kwargs),
}

function enumerate(rt: Runtime, args: readonly Value[], kwargs: Kwargs): Value | undefined {
  const value = args[0] ?? kwargs.get('iterable')
  const source = value === undefined ? undefined : iterate(rt, value)
  let index = intOf(args[1] ?? kwargs.get('start') ?? 0n)
  if (!source || index === undefined) return undefined
  const iterator = makeIterator('enumerate', () => {
    const item = source.next()
    if (item === undefined) iterator.rest = source.rest
    if (item === undefined || index === undefined) return undefined
    index += 1n
    return inheritOrder(iterator, makeTuple([index - 1n, item]), [source])
  })
  return iterator
}

const REVERSED: Definition = {
  name: 'reversed',
  construct: (rt, _cls, [value]) => {
    if (value === undefined) return undefined
    const own = callSpecial(rt, value, '__reversed__', [])
    if (own !== undefined) return iterate(rt, own)
    const inner = payloadOf(value)
    if (typeof inner === 'object' && inner?.kind === 'range' && rangeLength(inner) > 20_000n)
      return undefined
    if (iterate(rt, inner) === undefined) return undefined
    const { items, rest } = readItems(rt, inner)
    return inheritUndecided(makeItemsIterator('reversed', items.toReversed(), rest), inner)
  },
}

const ITERATOR_METHODS: NonNullable<NativeClass['methods']> = {
  __iter__: (_, [self]) => self,
  __next__: (rt, [self]) => {
    if (!isIterator(self)) return undefined
    const item = self.next()
    if (item !== undefined) return item
    return self.rest ? undefined : raise(rt, 'StopIteration')
  },
}

/** Iterators of builtin types other than generators. */
export const ITERATOR: Definition = { name: 'iterator', methods: ITERATOR_METHODS }

export const GENERATOR: Definition = {
  name: 'generator',
  methods: {
    ...ITERATOR_METHODS,
    close: () => null,
  },
  // It ran to its end when it was first asked, without what is sent.
  unread: 'send',
}

/** Views of dicts. */
export const viewClass = (name: string): Definition => ({
  name,
  methods: { ...VALUE_METHODS, ...CONTAINER_METHODS },
  unread: 'isdisjoint',
})

export const ITERATION_CLASSES = [RANGE, SLICE, ZIP, MAP, FILTER, ENUMERATE, REVERSED]
