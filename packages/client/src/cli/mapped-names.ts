/** Splits a source at what begins in its first column. */
export const blocksOf = (source: string): string[] => source.split(/^(?=\S)/m)

const KEY = /(["'])((?:(?!\1).)+)\1\s*:/g

/** Lists the keys that are written out in the mapping of a file. */
export const mappedIn = (source = ''): string[] =>
  blocksOf(source)
    .filter((block) => block.startsWith('NODE_CLASS_MAPPINGS'))
    .flatMap((block) => [...block.replaceAll(/^\s*#.*/gm, '').matchAll(KEY)])
    .map(([, , key = '']) => key)
