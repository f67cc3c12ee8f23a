import { describeRejected } from '../../../packages/inspector/src/inspect.ts'
import type { Inspection, NodesSection } from '../../../packages/inspector/src/inspection.ts'
import {
  EXTRACTOR_VERSION,
  SCANNER,
  SCANNER_VERSION,
} from '../../../packages/inspector/src/versions.ts'
import type { SectionName } from '../../../packages/inspector/src/messages.ts'

export type FailureCode = 'budget_memory' | 'budget_time' | 'crashed'

const MESSAGES: Record<FailureCode, string> = {
  budget_memory: 'Reading the archive takes more memory than there is: make the pack smaller',
  budget_time: 'Reading the archive takes too long: make the pack smaller',
  crashed: 'Reading the archive ends its reader: zip the pack again',
}

/** The result of a section whose archive has ended its reader twice. */
export const makeFailure = (section: SectionName, code: FailureCode): Partial<Inspection> => {
  if (section === 'archive')
    return describeRejected({ verdict: 'rejected', code, message: MESSAGES[code] })
  if (section === 'nodes') return { nodes: failedNodes(code) }
  return {
    findings: {
      scanner: SCANNER,
      scannerVersion: SCANNER_VERSION,
      complete: false,
      findings: [],
      counts: { high: 0, medium: 0, info: 0 },
      tags: [],
    },
  }
}

const failedNodes = (reason: string): NodesSection => ({
  extractorVersion: EXTRACTOR_VERSION,
  status: 'failed',
  reason,
  how: 'none',
  partial: true,
  reasons: [reason],
  dropped: 0,
  nodes: [],
  stats: {},
})
