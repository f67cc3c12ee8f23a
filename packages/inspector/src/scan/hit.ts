import type { Severity } from '../inspection.ts'
import type { RuleId } from './rule-table.ts'

/** What a rule reports, before tier, caps and snippet. */
export interface Hit {
  rule: RuleId
  /** Within the archive; undefined when it is in no file. */
  path?: string | undefined
  /** From 1; undefined when it is about the whole file. */
  line?: number | undefined
  /** What exactly was found, to follow the rule's title. */
  detail?: string | undefined
  /** Text of the line, of which a finding shows a part. */
  text?: string | undefined
  /** Of a hit that is not listed and stands for others: how many. */
  times?: number
  /** Instead of the rule's own. */
  tier?: Severity
}
