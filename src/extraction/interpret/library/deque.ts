import { isInstanceValue, isSequence } from '../values/guards.ts'
import { countOf, payloadOf } from '../values/payload.ts'
import { call } from '../operate/call.ts'
import { raiseIfExpected } from '../operate/raise.ts'
import { readItems } from '../operate/iterate.ts'
import { makeInstance, makeList, orElse } from '../values/make-value.ts'
import { nativeClass } from '../values/native.ts'
import type { Runtime } from '../runtime.ts'
import type { ClassValue, ListValue, NativeCall, Value } from '../values/value.ts'

/** `collections.deque`: a list that is no subclass of one. */
export const makeDequeClass = (rt: Runtime): ClassValue =>
  nativeClass(rt, {
    name: 'deque',
    module: 'collections',
    payload: 'list',
    construct: (_rt, cls) => makeInstance(cls, makeList([])),
    methods: METHODS,
    attributes: { __hash__: null },
  })

interface Ends {
  list: ListValue
  /** Most items; what is too much leaves at the other end. */
  most: number
}

const endsOf = (self: Value | undefined): Ends | undefined => {
  const content = payloadOf(self)
  if (!isSequence(content) || content.kind !== 'list' || !isInstanceValue(self)) return undefined
  return { list: content, most: countOf(self.attributes.get('maxlen') ?? null) ?? Infinity }
}

const append = ({ list, most }: Ends, item: Value): void => {
  list.items.push(item)
  if (list.items.length > most) list.items.shift()
}

const appendLeft = ({ list, most }: Ends, item: Value): void => {
  list.items.unshift(item)
  if (list.items.length > most) list.items.pop()
}

const changing =
  (change: (ends: Ends, args: Value[], rt: Runtime) => Value | undefined): NativeCall =>
  (rt, [self, ...args]) => {
    const ends = endsOf(self)
    if (ends === undefined) return undefined
    rt.budget.step((ends.list.items.length >> 8) + 1)
    return change(ends, args, rt)
  }

const extending = (put: (ends: Ends, item: Value) => void): NativeCall =>
  changing((ends, [source], rt) => {
    const { items, rest } = source === undefined ? { items: [], rest: true } : readItems(rt, source)
    if (!rt.budget.allowItems(items.length)) return undefined
    for (const item of items) put(ends, item)
    if (rest) ends.list.rest = true
    return null
  })

const extend = extending(append)

const METHODS: Record<string, NativeCall> = {
  __init__: (rt, [self, source, maxlen], kwargs) => {
    if (!isInstanceValue(self)) return undefined
    self.attributes.set('maxlen', maxlen ?? kwargs.get('maxlen') ?? null)
    return source === undefined ? null : extend(rt, [self, source], kwargs)
  },
  append: changing((ends, [item = null]) => {
    append(ends, item)
    return null
  }),
  appendleft: changing((ends, [item = null]) => {
    appendLeft(ends, item)
    return null
  }),
  extend,
  extendleft: extending(appendLeft),
  pop: changing(({ list }, _args, rt) =>
    list.rest
      ? undefined
      : orElse(list.items.pop(), () => raiseIfExpected(rt, 'IndexError', 'empty')),
  ),
  popleft: changing(({ list }, _args, rt) =>
    orElse(list.items.shift(), () => raiseIfExpected(rt, 'IndexError', 'empty')),
  ),
  clear: changing(({ list }) => {
    list.items.length = 0
    list.rest = false
    return null
  }),
  rotate: changing(({ list }, [by = 1n]) => {
    const steps = countOf(by)
    if (steps === undefined || list.rest) return undefined
    const { length } = list.items
    const at = length === 0 ? 0 : ((-steps % length) + length) % length
    list.items = [...list.items.slice(at), ...list.items.slice(0, at)]
    return null
  }),
  reverse: changing(({ list }) => {
    list.items.reverse()
    return null
  }),
  copy: (rt, [self]) =>
    isInstanceValue(self)
      ? call(rt, self.cls, [self, self.attributes.get('maxlen') ?? null])
      : undefined,
}
