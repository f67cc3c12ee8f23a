import { checkLines } from '../lib/batch-lines.ts'
import { UsageError } from './error.ts'
import { counted } from './words.ts'

/** Lists the numbers of the lines that are requests. Rejects a file with one that is no JSON. */
export const listLines = (file: Uint8Array, path: string): number[] => {
  const { numbers, issues } = checkLines(file)
  const [first, ...others] = issues
  if (first === undefined) return numbers
  const more =
    others.length > 0
      ? `, and neither ${others.length === 1 ? 'is' : 'are'} ${counted(others.length, 'other line')}`
      : ''
  throw new UsageError(
    `line ${first.number} of ${path} is no JSON (${first.message})${more}: nothing was sent`,
  )
}
