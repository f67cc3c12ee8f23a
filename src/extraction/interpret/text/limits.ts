/** Most UTF-16 units of one string, and bytes of one bytes object: 1 MiB. Longer is unknown. */
export const MAX_TEXT = 1_048_576

/** The text, or undefined (unknown) when it is over the cap. */
export const capText = (text: string): string | undefined =>
  text.length > MAX_TEXT ? undefined : text

/**
 * `text` repeated as Python's `text * times` does (none for a negative number), or undefined over the cap. The length
 * is judged before anything is built.
 */
export const repeatText = (text: string, times: bigint): string | undefined => {
  if (times <= 0n || text === '') return ''
  if (times > MAX_TEXT || text.length * Number(times) > MAX_TEXT) return undefined
  return text.repeat(Number(times))
}
