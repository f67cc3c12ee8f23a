/** Writes one line for a person. */
export type Say = (line: string) => void

/** Levels of pino by number, from the one that is worth a person's attention. */
const LEVELS: Record<number, string> = { 40: 'warning', 50: 'error', 60: 'fatal' }

interface LogRecord {
  level?: number
  msg?: string
  err?: { message?: string }
  file?: string
  instance?: string
  address?: string
  item?: string
  template?: string
  detail?: string
  issue?: string
  issues?: string[]
  reasons?: string[]
}

/**
 * Describes a line of a child's log to somebody who watches the terminal; undefined for the everyday ones, which are in
 * the log file. Lines that are no JSON are shown as they are.
 */
export const describeLogLine = (name: string, line: string): string | undefined => {
  const record = parse(line)
  if (record === undefined) return line.trim() === '' ? undefined : `${name}: ${line}`
  const level = LEVELS[record.level ?? 0]
  if (level === undefined) return undefined
  const { msg, err, file, item, instance, address, template, detail, issue } = record
  const { issues = [], reasons = [] } = record
  // An issue may name its file itself.
  const named = issues.some((issue) => issue.startsWith(`${file}:`)) ? undefined : file
  const about = [named, item, instance, address, template].filter(Boolean).join(', ')
  const cause = err?.message
  const causes = [cause === msg ? undefined : cause, detail, issue, ...issues, ...reasons]
  const parts = [msg, about, ...causes]
  const message = parts.filter(Boolean).join(': ')
  return `${name} ${level}: ${message}`
}

const parse = (line: string): LogRecord | undefined => {
  if (!line.startsWith('{')) return undefined
  try {
    return JSON.parse(line) as LogRecord
  } catch {
    return undefined
  }
}

/** Seconds since `start` as a person reads them, `1.2 s`. */
export const secondsSince = (start: number): string =>
  `${((Date.now() - start) / 1000).toFixed(1)} s`
