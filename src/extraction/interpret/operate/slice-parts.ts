import { isSlice } from '../values/guards.ts'
import { numberOf } from '../values/payload.ts'
import type { SliceParts } from '../text/string/slice.ts'
import type { Value } from '../values/value.ts'

export function isFromEnd({ start, stop, step }: SliceParts): boolean {
  return (start ?? 0n) < 0n || (stop ?? 0n) < 0n || (step ?? 1n) < 0n
}

/** Index within the length, counted from the end if negative; undefined outside. */
export function indexOf(key: Value, length: number): number | undefined {
  const number = numberOf(key)
  if (typeof number !== 'bigint') return undefined
  const index = number < 0n ? number + BigInt(length) : number
  return index < 0n || index >= BigInt(length) ? undefined : Number(index)
}

/** The parts of a slice of ints; undefined if the key is no slice, or one with other parts. */
export function sliceParts(key: Value): SliceParts | undefined {
  if (!isSlice(key)) return undefined
  const [start, stop, step] = [partOf(key.start), partOf(key.stop), partOf(key.step)]
  if (start === null || stop === null || step === null) return undefined
  return { start, stop, step }
}

function partOf(value: Value): bigint | undefined | null {
  if (value === null) return undefined
  const number = numberOf(value)
  return typeof number === 'bigint' ? number : null
}
