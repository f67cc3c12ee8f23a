import { isObject } from '../../../platform/domain/is-object.ts'

/** States of a prediction after which nothing of it changes. */
const ENDS = ['succeeded', 'failed', 'canceled'] as const

/** A prediction, as an engine says how it stands. */
export interface Prediction {
  status: string
  logs: string
  output: unknown
  error: string
}

/** Reads a prediction; undefined of a body that is none, or is of another. */
export const readPrediction = (
  body: Record<string, unknown>,
  id: string,
): Prediction | undefined => {
  const { id: of = id, status, logs, output, error } = body
  if (typeof status !== 'string' || of !== id) return undefined
  const text = typeof error === 'string' ? error : isObject(error) ? JSON.stringify(error) : ''
  return { status, logs: typeof logs === 'string' ? logs : '', output, error: text }
}

export const hasEnded = ({ status }: Pick<Prediction, 'status'>): boolean =>
  ENDS.some((end) => end === status)

/** Characters of the logs that are kept. */
const LOG_CHARACTERS = 4000

/** Cuts logs to their last lines. A line that was written over is as it was last, as on a terminal. */
export const endOfLogs = (logs: string): string => {
  const end = logs.slice(-4 * LOG_CHARACTERS)
  const lines = end.split('\n').map((line) => line.replace(/\r+$/, '').split('\r').at(-1) ?? '')
  // No half of a character at its start.
  return lines
    .join('\n')
    .slice(-LOG_CHARACTERS)
    .replace(/^[\udc00-\udfff]/, '')
}

/** Finds how far a prediction is by the last line of tqdm in its logs: 0 to 100. */
export const readPercent = (logs: string): number => {
  const [last] = [...logs.matchAll(/(\d{1,3})%\|/g)].slice(-1)
  return Math.min(100, Number(last?.[1] ?? 0))
}
