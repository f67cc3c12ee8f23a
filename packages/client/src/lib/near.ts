/** Finds the known name that was meant: one begins with the other, or they differ by a slip. Case, `-` and `_` do not count. */
export const findNear = (name: string, known: readonly string[]): string | undefined =>
  known.find((one) => isPart(plainOf(one), plainOf(name))) ??
  known.find((one) => isSlip(plainOf(one), plainOf(name)))

const plainOf = (name: string): string => name.replaceAll(/[_-]/g, '').toLowerCase()

const isPart = (one: string, other: string): boolean =>
  Math.min(one.length, other.length) > 1 && (one.startsWith(other) || other.startsWith(one))

/** True where two neighbouring letters at most stand between a common beginning and a common end. */
const isSlip = (one: string, other: string): boolean => {
  const length = Math.max(one.length, other.length)
  const common = countCommon(one, other) + countCommon(reverse(one), reverse(other))
  return length > 4 && common >= length - 2
}

const countCommon = (one: string, other: string): number => {
  const at = [...one].findIndex((letter, index) => letter !== other[index])
  return at < 0 ? one.length : at
}

const reverse = (text: string): string => [...text].toReversed().join('')
