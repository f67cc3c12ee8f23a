export interface ScanLimits {
  /** Findings listed of one rule in one file. */
  perRuleAndFile: number
  /** Findings listed in all. */
  findings: number
  /** Bytes of Python source. */
  sourceBytes: number
  milliseconds: number
}

export const SCAN_LIMITS: ScanLimits = {
  perRuleAndFile: 20,
  findings: 500,
  sourceBytes: 64 * 1024 * 1024,
  milliseconds: 60_000,
}
