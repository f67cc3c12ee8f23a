import type { Say } from './console.ts'

export interface ProgressLine {
  /** May be called as often as there is something to show. */
  show(text: string): void
  /** Leaves nothing of it on the terminal. */
  end(): void
}

const LINE_EVERY_MS = 30_000

/** On a terminal one line that is written again in its place; elsewhere a line each half minute. */
export const makeProgressLine = (
  say: Say,
  out: Pick<NodeJS.WriteStream, 'isTTY' | 'write'> = process.stdout,
): ProgressLine => {
  if (out.isTTY)
    return {
      // The cursor stays at its begin, so that what others write takes its place.
      show: (text) => void out.write(`\u001B[2K${text}\r`),
      end: () => void out.write('\u001B[2K'),
    }
  let saidAt = Date.now()
  return {
    show: (text) => {
      if (Date.now() - saidAt < LINE_EVERY_MS) return
      saidAt = Date.now()
      say(text)
    },
    end: () => {},
  }
}
