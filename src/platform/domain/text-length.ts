/** True when a text has more code points than `most`: a pair of surrogates is one. */
export const isLonger = (text: string, most: number): boolean =>
  text.length > most && Array.from(text.slice(0, 2 * most + 1)).length > most
