import { callSpecial } from '../run-code.ts'
import { hasUnknownBase } from './class-lookup.ts'
import type { InstanceValue, ObjectValue, Runtime, Truth, Value } from '../types.ts'

/** `bool(value)`, undefined if it can't be decided: whoever asks has to guess. */
export function truthOf(rt: Runtime, value: Value): Truth {
  const truth = truthOfValue(rt, value)
  if (truth === undefined) rt.state.guesses += 1
  return truth
}

function truthOfValue(rt: Runtime, value: Value): Truth {
  switch (typeof value) {
    case 'boolean':
      return value
    case 'string':
      return value !== ''
    case 'bigint':
      return value !== 0n
    case 'number':
      return value !== 0
    default:
      return value === null ? false : truthOfObject(rt, value)
  }
}

function truthOfObject(rt: Runtime, value: ObjectValue) {
  switch (value.kind) {
    case 'list':
    case 'tuple':
      return value.items.length > 0 || (value.rest ? undefined : false)
    case 'set':
      return value.items.size > 0 || (value.rest ? undefined : false)
    case 'dict':
      return value.values.size > 0 || (value.rest ? undefined : false)
    case 'view':
      return value.dict.values.size > 0 || (value.dict.rest ? undefined : false)
    case 'bytes':
      return value.data.length > 0
    case 'range':
      return rangeLength(value) > 0n
    case 'instance':
      return truthOfInstance(rt, value)
    case 'unknown':
      return value.truth ?? agreed(value.oneOf?.map((choice) => truthOfValue(rt, choice)) ?? [])
    default:
      return true
  }
}

/** The truth of one of several. */
export function agreed([first, ...others]: Truth[]): Truth {
  return others.every((truth) => truth === first) ? first : undefined
}

export function rangeLength(range: { start: bigint; stop: bigint; step: bigint }): bigint {
  const { start, stop, step } = range
  const span = step > 0n ? stop - start : start - stop
  if (span <= 0n) return 0n
  const size = step > 0n ? step : -step
  return (span + size - 1n) / size
}

function truthOfInstance(rt: Runtime, value: InstanceValue): Truth {
  const own = callSpecial(rt, value, '__bool__', [])
  if (own !== undefined) return typeof own === 'boolean' ? own : undefined
  const length = callSpecial(rt, value, '__len__', [])
  if (length !== undefined) return typeof length === 'bigint' ? length !== 0n : undefined
  if (value.payload !== undefined) return truthOfValue(rt, value.payload)
  return hasUnknownBase(value.cls) ? undefined : true
}
