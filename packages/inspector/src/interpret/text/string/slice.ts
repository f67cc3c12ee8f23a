import { codePoints, isBasic, lengthOf } from './code-points.ts'

/** The three parts of `[start:stop:step]`; undefined is one that is not given. */
export interface SliceParts {
  start: bigint | undefined
  stop: bigint | undefined
  step: bigint | undefined
}

/**
 * Python's `slice.indices(length)`: where to begin, where to end (exclusive) and the step, all within the sequence.
 * Undefined for step zero, which raises.
 */
const sliceBounds = (
  { start, stop, step = 1n }: SliceParts,
  length: number,
): { start: number; stop: number; step: number } | undefined => {
  if (step === 0n) return undefined
  const back = step < 0n
  const [low, high] = back ? [-1, length - 1] : [0, length]
  return {
    start: start === undefined ? (back ? high : low) : bound(start, length, low, high),
    stop: stop === undefined ? (back ? low : high) : bound(stop, length, low, high),
    step: Number(clampInt(step)),
  }
}

/** Every index that the slice takes, in its order; undefined for step zero. Works for any sequence. */
export const sliceIndexes = (parts: SliceParts, length: number): number[] | undefined => {
  const bounds = sliceBounds(parts, length)
  if (bounds === undefined) return undefined
  const { start, stop, step } = bounds
  const indexes: number[] = []
  for (let at = start; step > 0 ? at < stop : at > stop; at += step) indexes.push(at)
  return indexes
}

/** `text[start:stop:step]`; undefined for step zero. */
export const sliceText = (text: string, parts: SliceParts): string | undefined => {
  const bounds = sliceBounds(parts, lengthOf(text))
  if (bounds === undefined) return undefined
  if (bounds.step === 1 && isBasic(text)) {
    return text.slice(bounds.start, Math.max(bounds.start, bounds.stop))
  }
  const characters = codePoints(text)
  const indexes = sliceIndexes(parts, characters.length) ?? []
  return indexes.map((at) => characters[at] ?? '').join('')
}

/** `text[index]`; undefined outside the text, which raises. */
export const itemOfText = (text: string, index: bigint): string | undefined => {
  const length = lengthOf(text)
  const at = Number(clampInt(index < 0n ? index + BigInt(length) : index))
  if (at < 0 || at >= length) return undefined
  return isBasic(text) ? text[at] : codePoints(text)[at]
}

const bound = (index: bigint, length: number, low: number, high: number): number =>
  Math.min(high, Math.max(low, fromEnd(index, length)))

const fromEnd = (index: bigint, length: number): number => {
  const at = Number(clampInt(index))
  return at < 0 ? at + length : at
}

/** Into what a double holds exactly; no sequence is that long. */
const clampInt = (index: bigint): bigint =>
  index > 9007199254740991n
    ? 9007199254740991n
    : index < -9007199254740991n
      ? -9007199254740991n
      : index
