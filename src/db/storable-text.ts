/** A text as PostgreSQL takes it: what it refuses, NUL and lone surrogates, is the replacement character. */
export const toStorable = (text: string): string =>
  new TextDecoder().decode(new TextEncoder().encode(text)).replaceAll('\0', '\u{fffd}')
