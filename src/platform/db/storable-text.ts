/** A text as PostgreSQL takes it: what it rejects, NUL and lone surrogates, is the replacement character. */
export const toStorable = (text: string): string =>
  new TextDecoder().decode(new TextEncoder().encode(text)).replaceAll('\0', '\u{fffd}')
