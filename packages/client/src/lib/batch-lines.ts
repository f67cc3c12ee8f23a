/** A request of a file, with the number of its line from 1. */
export interface RequestLine {
  number: number
  text: string
}

/** Why a line is no JSON. */
export interface LineIssue {
  number: number
  message: string
}

const NEWLINE = 10

/** Reads the lines of a file that are requests: the service does not count blank ones. */
export function* readRequestLines(file: Uint8Array): Generator<RequestLine> {
  const decoder = new TextDecoder()
  for (let [start, number] = [0, 1]; start < file.length; number += 1) {
    const newline = file.indexOf(NEWLINE, start)
    const end = newline < 0 ? file.length : newline
    const text = decoder.decode(file.subarray(start, end)).trim()
    start = end + 1
    if (text !== '') yield { number, text }
  }
}

/** Drops the place that a parser names by a line of its own, which is always the first. */
const withoutLine = (message: string): string =>
  message.replace(/ \(line 1 column \d+\)$/, '').replace(/ at line 1 (?=column)/, ' at ')

/** Lists the numbers of all requests, and what is no JSON among them: the service would make the tasks of all others first. */
export const checkLines = (file: Uint8Array): { numbers: number[]; issues: LineIssue[] } => {
  const numbers: number[] = []
  const issues: LineIssue[] = []
  for (const { number, text } of readRequestLines(file)) {
    numbers.push(number)
    try {
      JSON.parse(text)
    } catch (error) {
      issues.push({ number, message: withoutLine((error as Error).message) })
    }
  }
  return { numbers, issues }
}
