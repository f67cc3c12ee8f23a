/** A Python int (bigint) or float (number). */
export type PythonNumber = bigint | number

/** Ints beyond this many bits are unknown: repeated squaring would double the work each time. About 9,800 digits. */
const MAX_INT_BITS = 32_768

const HIGHEST = 1n << BigInt(MAX_INT_BITS)

/** The int, or undefined (unknown) when it is over the cap. */
export const capInt = (value: bigint): bigint | undefined =>
  value > HIGHEST || value < -HIGHEST ? undefined : value

/** As Python converts for mixed arithmetic: undefined for an int no float can hold, which raises. */
export const toFloat = (value: PythonNumber): number | undefined => {
  const float = Number(value)
  return typeof value === 'bigint' && !Number.isFinite(float) ? undefined : float
}

/** `int(value)` of a float, towards zero; undefined for NaN and infinities, which raise. */
export const truncate = (value: number): bigint | undefined =>
  Number.isFinite(value) ? BigInt(Math.trunc(value)) : undefined
