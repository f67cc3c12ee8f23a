/** Bytes of the lists of one response: so many for each byte of the request, and so many in any case. */
const TIMES = 3.5
const LEAST = 230_000

const WARNINGS_MAX = 100

const LEFT_OUT =
  'Not all is listed, because the response would be much larger than the request: send a part of the workflow.'

/** Room for the lists of one response, which a small workflow could make as large as its writer likes. */
export interface Room {
  /** Returns the first items of a list, as many as there is room for. */
  take<Item>(items: readonly Item[]): Item[]
  /** Adds to warnings that something was left out, and says how many of them are not shown. */
  warn(warnings: readonly string[]): string[]
}

export const makeRoom = (requestBytes: number): Room => {
  let left = Math.max(LEAST, TIMES * requestBytes)
  const isOut = (item: unknown): boolean => {
    left -= Buffer.byteLength(JSON.stringify(item)) + 1
    return left < 0
  }
  return {
    take: (items) => {
      const end = items.findIndex(isOut)
      return end < 0 ? [...items] : items.slice(0, end)
    },
    warn: (warnings) => [
      ...warnings.slice(0, WARNINGS_MAX),
      ...(warnings.length > WARNINGS_MAX
        ? [`There are ${warnings.length - WARNINGS_MAX} more warnings.`]
        : []),
      ...(left < 0 ? [LEFT_OUT] : []),
    ],
  }
}
