/** Most bytes of the file at the address, and most of its pixels. */
export const MAX_BYTES = 2 ** 20
export const MAX_PIXELS = 16_000_000
/** Most bytes of the WebP that it becomes. */
export const MAX_BYTES_MADE = 2 ** 18
/** Exit codes of the process when it finds no picture there that can be shown, and the words for each. */
export const CANNOT_BE_SHOWN = 3
export const TOO_MANY_PIXELS = 4
export const EXIT_REASONS: Partial<Record<number, string>> = {
  [CANNOT_BE_SHOWN]: 'it is damaged, or no JPEG, PNG, WebP, AVIF, TIFF or GIF',
  [TOO_MANY_PIXELS]: `it has more than ${MAX_PIXELS.toLocaleString('en')} pixels`,
}
