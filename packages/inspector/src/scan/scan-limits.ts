export interface ScanLimits {
  /** Findings listed of one rule in one file. */
  perRuleAndFile: number
  /** Findings listed in all. */
  findings: number
  /** Of Python, in bytes. */
  sourceBytes: number
  milliseconds: number
}

export const SCAN_LIMITS: ScanLimits = {
  perRuleAndFile: 20,
  findings: 500,
  sourceBytes: 64 * 1024 * 1024,
  milliseconds: 60_000,
}
