import type { ScannedFinding } from '../../domain/registry/inspection.ts'
import { RULES } from './rule-table.ts'
import type { RuleId } from './rule-table.ts'

/**
 * The sentence with which a version is flagged: how many findings of high severity, the worst, its file and line.
 * Undefined if there are none. `findings` in the order of the scan; `high` counts those that are not listed too.
 */
export const flaggedReason = (
  findings: readonly ScannedFinding[],
  high: number,
): string | undefined => {
  const worst = findings.find(({ severity }) => severity === 'high')
  if (!worst) return undefined
  const { issue_type: rule, file_path: path, line_number: line } = worst
  const title = rule in RULES ? RULES[rule as RuleId].title : worst.message
  const place =
    path === undefined ? '' : ` (${path.slice(-MAX_PATH)}${line === undefined ? '' : `:${line}`})`
  return `${high} high ${high === 1 ? 'finding' : 'findings'}; the worst: ${title}${place}`
}

/** The longest path of an archive is 512 bytes. */
const MAX_PATH = 512
