import { argumentOf } from '../operate/arguments.ts'
import { equals } from '../operate/compare.ts'
import { call } from '../operate/call.ts'
import { readItems } from '../operate/iterate.ts'
import { makeItemsIterator, makeTuple, orElse } from '../values/make-value.ts'
import type { NativeCall, Value } from '../values/value.ts'

/** `zip_longest(*sources, fillvalue=None)`. */
export const zipLongest: NativeCall = (rt, args, kwargs) => {
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
export const groupBy: NativeCall = (rt, args, kwargs) => {
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
