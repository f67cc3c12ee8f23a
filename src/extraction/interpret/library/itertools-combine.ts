import { countOf } from '../values/payload.ts'
import { argumentOf } from '../operate/arguments.ts'
import { readItems } from '../operate/iterate.ts'
import { makeTuple, orElse } from '../values/make-value.ts'
import type { Runtime } from '../runtime.ts'
import type { NativeCall, Value } from '../values/value.ts'
import { makeLazy } from './support/lazy.ts'

/** `product(*sources, repeat=1)`: the last source runs fastest. */
export const product: NativeCall = (rt, sources, kwargs) => {
  const repeat = countOf(orElse(kwargs.get('repeat'), () => 1n))
  if (repeat === undefined || repeat < 0 || repeat * sources.length > 100) return undefined
  const read = sources.map((source) => readItems(rt, source))
  const pools = Array.from({ length: repeat }, () => read).flat()
  return makeLazy(rt, 'generator', (end) => {
    end.rest = pools.some(({ rest }) => rest)
    return choose(
      rt,
      pools.map(({ items }) => items),
    )
  })
}

/** One of each pool, counting up like an odometer. */
function* choose(rt: Runtime, pools: readonly Value[][]): Generator<Value, void> {
  if (pools.some((pool) => pool.length === 0)) return
  const at = pools.map(() => 0)
  for (;;) {
    rt.budget.step(1)
    yield makeTuple(at.map((index, pool) => pools[pool]?.[index] ?? null))
    let last = pools.length - 1
    while (last >= 0 && (at[last] ?? 0) + 1 >= (pools[last]?.length ?? 0)) {
      at[last] = 0
      last -= 1
    }
    if (last < 0) return
    at[last] = (at[last] ?? 0) + 1
  }
}

/** `combinations(source, r)`, in the order of positions. */
export const combinations: NativeCall = (rt, args, kwargs) =>
  select(rt, args, argumentOf(args, kwargs, 1, 'r'), (at, chosen) => at > (chosen.at(-1) ?? -1))

/** `permutations(source, r)`. */
export const permutations: NativeCall = (rt, args, kwargs) => {
  const size = argumentOf(args, kwargs, 1, 'r')
  return select(rt, args, size === undefined ? null : size, (at, chosen) => !chosen.includes(at))
}

/** Tuples of `size` items (None: all) whose positions may follow each other. */
const select = (
  rt: Runtime,
  [source]: Value[],
  size: Value | undefined,
  mayFollow: (at: number, chosen: readonly number[]) => boolean,
): Value | undefined => {
  if (source === undefined || size === undefined) return undefined
  const { items, rest } = readItems(rt, source)
  const length = size === null ? items.length : countOf(size)
  if (length === undefined || length < 0 || length > 100) return undefined
  return makeLazy(rt, 'generator', (end) => {
    end.rest = rest
    return extend(rt, items, { chosen: [], length, mayFollow })
  })
}

interface Selection {
  chosen: readonly number[]
  length: number
  mayFollow: (at: number, chosen: readonly number[]) => boolean
}

function* extend(rt: Runtime, items: Value[], selection: Selection): Generator<Value, void> {
  const { chosen, length, mayFollow } = selection
  rt.budget.step(1)
  if (chosen.length === length) {
    yield makeTuple(chosen.map((at) => items[at] ?? null))
    return
  }
  for (let at = 0; at < items.length; at += 1) {
    if (!mayFollow(at, chosen)) continue
    yield* extend(rt, items, { ...selection, chosen: [...chosen, at] })
  }
}
