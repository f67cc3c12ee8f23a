import type { ScannedFinding, Severity } from '../inspection.ts'
import type { Hit } from './hit.ts'
import { RULE_IDS, RULES } from './rule-table.ts'
import { maskSecrets } from './secrets.ts'

/** A hit with the tier that its place leaves it. */
export interface RatedHit extends Hit {
  severity: Severity
}

/**
 * Lists findings: the gravest first, then by rule, path and line. Findings of info severity are only counted. Nested
 * archives are listed all the same: they were left out, and the publisher has to know. A last finding counts
 * those beyond `most`.
 */
export const makeFindings = (hits: readonly RatedHit[], max: number): ScannedFinding[] => {
  const reportable = hits.filter(isListed)
  const listed = reportable.filter(({ times }) => times === undefined).toSorted(byGravity)
  const all = reportable.reduce((sum, { times = 1 }) => sum + times, 0)
  if (all <= max && all === listed.length) return listed.map(findingOf)
  const shown = listed.slice(0, max - 1)
  return [...shown.map(findingOf), overflow(all - shown.length)]
}

const isListed = ({ severity, rule }: RatedHit): boolean =>
  severity !== 'info' || rule === 'nested-archive'

const GRAVITY: Record<Severity, number> = { high: 0, medium: 1, info: 2 }

/** By code unit, in no locale. */
const byGravity = (left: RatedHit, right: RatedHit): number =>
  GRAVITY[left.severity] - GRAVITY[right.severity] ||
  RULE_IDS.indexOf(left.rule) - RULE_IDS.indexOf(right.rule) ||
  compare(left.path ?? '', right.path ?? '') ||
  (left.line ?? 0) - (right.line ?? 0) ||
  compare(left.detail ?? '', right.detail ?? '')

const compare = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0)

const findingOf = ({ rule, severity, path, line, detail, text }: RatedHit): ScannedFinding => {
  const { title, advice } = RULES[rule]
  return {
    issue_type: rule,
    severity,
    ...(path === undefined ? {} : { file_path: path }),
    ...(line === undefined ? {} : { line_number: line }),
    ...(text === undefined ? {} : { code_snippet: snippetOf(text) }),
    message: `${title}${detail === undefined ? '' : ` (${snippetOf(detail)})`}. ${advice}.`,
  }
}

/** Makes a finding of info severity, so that it changes no verdict: what it counts has been rated before. */
const overflow = (count: number): ScannedFinding => ({
  issue_type: 'overflow',
  severity: 'info',
  message: `${count} more findings are not listed. Mend those listed and publish again.`,
})

/** A source line as a finding shows it: trimmed, secrets cut to their first four characters, at most 200 characters. */
const snippetOf = (line: string): string => {
  const text = maskSecrets(line.slice(0, MAX_READ)).replaceAll(UNPRINTABLE, ' ').trim()
  const characters = [...text]
  return characters.length > MAX_SHOWN ? `${characters.slice(0, MAX_SHOWN - 1).join('')}…` : text
}

const MAX_SHOWN = 200

/** A secret that starts in the part shown lies within this. */
const MAX_READ = 1000

/** Control characters, NUL above all, which PostgreSQL rejects, and lone surrogates. */
// oxlint-disable-next-line no-control-regex
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f]|\p{Surrogate}/gu
