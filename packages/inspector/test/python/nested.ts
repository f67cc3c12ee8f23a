/** A header within itself, that many times, around one statement. */
export const nested = (header: string, levels: number): string =>
  Array.from({ length: levels }, (_, level) => `${' '.repeat(level)}${header}\n`).join('') +
  `${' '.repeat(levels)}x = 1`
