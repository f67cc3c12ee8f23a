/** Most bytes of the file at the address, and most of its pixels. */
export const MOST_BYTES = 2 ** 20
export const MOST_PIXELS = 16_000_000
/** Most bytes of the WebP that it becomes. */
export const MOST_BYTES_MADE = 2 ** 18
/** Exit codes of the process when it finds no picture there that can be shown, and the words for each. */
export const CANNOT_BE_SHOWN = 3
export const TOO_MANY_PIXELS = 4
export const EXIT_REASONS: Partial<Record<number, string>> = {
  [CANNOT_BE_SHOWN]: 'it is damaged, or no JPEG, PNG, WebP, AVIF, TIFF or GIF',
  [TOO_MANY_PIXELS]: `it has more than ${MOST_PIXELS.toLocaleString('en')} pixels`,
}
