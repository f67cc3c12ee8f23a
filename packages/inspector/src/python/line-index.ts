/** Lines by offset. */
export interface LineIndex {
  /** 1-based line of an offset; quick where offsets come near the last one asked for. */
  lineOf(offset: number): number
  /** Offset of the first character of a 1-based line. */
  startOf(line: number): number
}

export const makeLineIndex = (text: string): LineIndex => {
  const starts = [0]
  for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', end + 1))
    starts.push(end + 1)
  let at = 0
  const lineOf = (offset: number): number => {
    while (at + 1 < starts.length && (starts[at + 1] as number) <= offset) at += 1
    while (at > 0 && (starts[at] as number) > offset) at -= 1
    return at + 1
  }
  return { lineOf, startOf: (line) => starts[line - 1] ?? 0 }
}
