import { UsageError } from './error.ts'
import { counted } from './words.ts'

const NEWLINE = 10

/**
 * Lists the numbers of the lines that are requests, from 1: the service does not count blank ones. Rejects a file with one
 * that is no JSON: the service would make the tasks of all others first.
 */
export const listLines = (file: Buffer, path: string): number[] => {
  const numbers: number[] = []
  let first: string | undefined
  let others = 0
  for (let [start, number] = [0, 1]; start < file.length; number += 1) {
    const newline = file.indexOf(NEWLINE, start)
    const end = newline < 0 ? file.length : newline
    const line = file.toString('utf8', start, end).trim()
    start = end + 1
    if (line === '') continue
    numbers.push(number)
    try {
      JSON.parse(line)
    } catch (error) {
      if (first === undefined)
        first = `line ${number} of ${path} is no JSON (${(error as Error).message})`
      else others += 1
    }
  }
  if (first === undefined) return numbers
  const more =
    others > 0
      ? `, and neither ${others === 1 ? 'is' : 'are'} ${counted(others, 'other line')}`
      : ''
  throw new UsageError(`${first}${more}: nothing was sent`)
}
