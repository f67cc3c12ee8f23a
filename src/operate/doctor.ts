import { inTime } from '../domain/shared/in-time.ts'
import { OperatorError } from '../process/operator-error.ts'
import type { Env } from '../process/settings/env.ts'
import type { SettingFault } from '../process/settings/faults.ts'

/**
 * One look at a part of the service: its name; settings that it cannot be made without; what to do when it fails in a way
 * that does not say so itself; and the look, which answers what it found. An OperatorError says what to do next.
 */
export type Check = [
  name: string,
  needs: readonly (keyof Env)[],
  advice: string,
  look: () => Promise<string>,
]

const LIMIT_MS = 5000

/** Makes all checks side by side, none longer than five seconds. Answers a line for each, and whether all are ok. */
export const examine = async (
  checks: readonly Check[],
  faults: readonly SettingFault[],
): Promise<{ lines: string[]; isWell: boolean }> => {
  const found = await Promise.all(checks.map((check) => examineOne(check, faults)))
  const lines = [
    ...(faults.length === 0 ? [tell('ok', 'settings', 'are usable')] : []),
    ...faults.map(({ message }) => tell('FAULT', 'settings', message)),
    ...found,
  ]
  return { lines, isWell: lines.every((line) => line.startsWith('ok')) }
}

const examineOne = async (
  [name, needs, advice, look]: Check,
  faults: readonly SettingFault[],
): Promise<string> => {
  const missing = faults.filter((fault) => needs.includes(fault.name)).map((fault) => fault.name)
  if (missing.length > 0) return tell('FAULT', name, `not looked at: mend ${missing.join(', ')}`)
  try {
    return tell('ok', name, await inTime(look(), LIMIT_MS, 'it'))
  } catch (error) {
    const message = error instanceof Error ? error.message || error.name : String(error)
    return tell('FAULT', name, error instanceof OperatorError ? message : `${message}: ${advice}`)
  }
}

const tell = (outcome: 'ok' | 'FAULT', name: string, message: string): string =>
  `${outcome.padEnd(6)} ${name.padEnd(18)} ${message.replace(/\s*\n\s*/g, ' ')}`
