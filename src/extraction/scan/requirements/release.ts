/** Numbers of a release (`v1.2.0` is 1, 2), without trailing zeros; pre-releases and local labels count as their number. */
export const readRelease = (version: string): number[] => {
  const text = /^v?(?:\d+!)?(\d+(?:\.\d+)*)/i.exec(version.trim())?.[1] ?? ''
  const numbers = text.split('.').map(Number)
  while (numbers.length > 1 && numbers.at(-1) === 0) numbers.pop()
  return numbers
}

export const compareReleases = (left: number[], right: number[]): number => {
  for (let at = 0; at < Math.max(left.length, right.length); at += 1) {
    const difference = (left[at] ?? 0) - (right[at] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}
