import { pythonModule } from './python-module.ts'
import { eachItem, makeLazy, type LazyEnd } from './support/lazy.ts'
import { argumentOf } from '../operate/arguments.ts'
import { binary } from '../operate/operator.ts'
import type { NativeCall, Runtime, Value } from '../types.ts'
import { orElse } from '../values/make-value.ts'
import { countOf } from '../values/read-value.ts'

type Generate = (rt: Runtime, end: LazyEnd, args: Value[]) => Generator<Value, void>

/** A function whose arguments must all be there. */
const lazy =
  (needed: number, generate: Generate): NativeCall =>
  (rt, args) =>
    args.length < needed ? undefined : makeLazy(rt, (end) => generate(rt, end, args))

function* count(rt: Runtime, _end: LazyEnd, [start = 0n, step = 1n]: Value[]) {
  for (
    let at: Value = typeof start === 'boolean' ? BigInt(start) : start;
    ;
    at = binary(rt, '+', at, step)
  )
    yield at
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

const FUNCTIONS: Record<string, NativeCall> = {
  count: (rt, args, kwargs) => {
    const start = orElse(argumentOf(args, kwargs, 0, 'start'), () => 0n)
    const step = orElse(argumentOf(args, kwargs, 1, 'step'), () => 1n)
    return makeLazy(rt, (end) => count(rt, end, [start, step]))
  },
  islice: lazy(2, slice),
}

/** `itertools`: lazy where sources may be endless, so that these are cut by who reads them. */
export const makeItertools = pythonModule('itertools', { functions: FUNCTIONS })
