import type { Severity } from '../inspection.ts'
import type { RuleId } from './rule-table.ts'

/** Report of a rule, before tier, caps and snippet. */
export interface Hit {
  rule: RuleId
  /** Within the archive; undefined when it is in no file. */
  path?: string | undefined
  /** From 1; undefined when it is about the whole file. */
  line?: number | undefined
  /** Exact thing that was found, to follow the rule's title. */
  detail?: string | undefined
  /** Text of the line, of which a finding shows a part. */
  text?: string | undefined
  /** Number of hits that it stands for, where it is not listed itself. */
  times?: number
  /** Instead of the rule's own. */
  tier?: Severity
}
