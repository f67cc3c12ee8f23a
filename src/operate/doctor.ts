import { inTime } from '../platform/domain/in-time.ts'
import { adviseAuthority } from '../platform/outbound/authority.ts'
import { OperatorError, OperatorWarning } from '../platform/process/operator-error.ts'
import { describeCauses, listCauses } from '../platform/domain/causes.ts'
import type { Env } from '../compose/settings/env.ts'
import type { SettingIssue } from '../platform/settings/issue.ts'

/**
 * Check of a part of the service: its name; settings, and names of earlier checks, that it cannot be made without; what
 * to do when it fails in a way that does not say so itself; and the function, which returns what it found. An
 * OperatorError says what to do next, and an OperatorWarning what waits for it.
 */
export type Check = [
  name: string,
  needs: readonly (keyof Env | 'postgres' | 'temporal' | 'namespace')[],
  advice: string,
  check: () => Promise<string>,
]

/** Facts that are known before the checks. */
interface Known {
  issues: readonly SettingIssue[]
  /** Processes whose settings were looked at. */
  usedBy?: string
  warnings?: readonly string[]
  /** Longest check. */
  limitMs: number
  /** Values that an error must not show. */
  secrets?: readonly string[]
}

/** Result of a check. */
export interface Finding {
  outcome: 'ok' | 'WARN' | 'ERROR'
  name: string
  message: string
}

/** Makes the checks side by side, none longer than `limitMs`. Returns a finding and a line for each, and whether none is an error. */
export const examine = async (
  checks: readonly Check[],
  { issues, usedBy = 'an api', warnings = [], secrets = [], limitMs }: Known,
): Promise<{ findings: Finding[]; lines: string[]; isWell: boolean }> => {
  const found = new Map<Check, Promise<Finding>>()
  const isMissing = async (need: string): Promise<boolean> => {
    const [, finding] = [...found].find(([[name]]) => name === need) ?? []
    return issues.some(({ name }) => name === need) || (finding && !isOk(await finding)) === true
  }
  for (const check of checks) found.set(check, examineOne(check, isMissing, { secrets, limitMs }))
  const findings = [
    ...(issues.length === 0 ? [findingOf('ok', 'settings', `are usable by ${usedBy}`)] : []),
    ...issues.map(({ message }) => findingOf('ERROR', 'settings', message)),
    ...warnings.map((message) => findingOf('WARN', 'settings', message)),
    ...(await Promise.all(found.values())),
  ]
  const isWell = !findings.some(({ outcome }) => outcome === 'ERROR')
  return { findings, lines: findings.map(formatLine), isWell }
}

const isOk = ({ outcome }: Finding): boolean => outcome === 'ok'

const examineOne = async (
  [name, needs, advice, check]: Check,
  isMissing: (need: string) => Promise<boolean>,
  { secrets, limitMs }: { secrets: readonly string[]; limitMs: number },
): Promise<Finding> => {
  const missing = []
  for (const need of needs) if (await isMissing(need)) missing.push(need)
  if (missing.length > 0)
    return findingOf('ERROR', name, `not looked at: mend ${missing.join(', ')}`)
  try {
    return findingOf('ok', name, await inTime(check(), limitMs, 'it'))
  } catch (error) {
    const known = listCauses(error).find((cause) => cause instanceof OperatorError)
    const message =
      known?.message ?? `${describeCauses(error)}: ${adviseAuthority(error) ?? advice}`
    const outcome = error instanceof OperatorWarning ? 'WARN' : 'ERROR'
    return findingOf(outcome, name, redact(message, secrets))
  }
}

/** Takes the secrets out of an error, whose text others may have written; a short one only where it is a word. */
const redact = (message: string, secrets: readonly string[]): string =>
  secrets.reduce(
    (text, secret) =>
      secret.length < SHORT_SECRET
        ? text.replaceAll(/[^\s"'/:@=,;()]+/g, (word) => (word === secret ? '***' : word))
        : text.replaceAll(secret, '***'),
    message,
  )

const SHORT_SECRET = 8

const findingOf = (outcome: Finding['outcome'], name: string, message: string): Finding => ({
  outcome,
  name,
  message: message.replace(/\s*\n\s*/g, ' '),
})

const formatLine = ({ outcome, name, message }: Finding): string =>
  `${outcome.padEnd(6)} ${name.padEnd(18)} ${message}`
