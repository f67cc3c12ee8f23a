/** Most UTF-16 units of one string, and bytes of one bytes object: 1 MiB. Longer is unknown. */
export const MAX_TEXT = 1_048_576

/** The text, or undefined (unknown) when it is over the cap. */
export const capText = (text: string): string | undefined =>
  text.length > MAX_TEXT ? undefined : text
