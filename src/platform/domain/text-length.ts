/** True when a text has more code points than `most`: a pair of surrogates is one. */
export const isLonger = (text: string, max: number): boolean =>
  text.length > max && Array.from(text.slice(0, 2 * max + 1)).length > max
