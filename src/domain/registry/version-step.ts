import type { ArchiveState, ExtractStatus, VersionStatus } from './version.ts'

/** What is known of a version's way from its upload to its decision. */
export interface VersionProgress {
  status: VersionStatus
  movedAt: Date
  /** The checks could not run. */
  hasGivenUp: boolean
  archiveState: ArchiveState
  receivedAt: Date | null
  scannedAt: Date | null
  extractStatus: ExtractStatus
  readAt: Date | null
}

type StepState = 'waiting' | 'running' | 'done' | 'failed' | 'held'

export interface VersionStep {
  step: 'received' | 'read' | 'scanned' | 'host_nodes' | 'active'
  state: StepState
  at?: string
}

/** The steps of a version, always these five in this order. */
export const listSteps = (progress: VersionProgress): VersionStep[] => {
  const { archiveState: archive, receivedAt, scannedAt, readAt, hasGivenUp, movedAt } = progress
  const isThere = archive === 'received' || archive === 'accepted'
  const goesOn: StepState = hasGivenUp ? 'failed' : isThere ? 'running' : 'waiting'
  const read = { accepted: 'done', rejected: 'failed', received: goesOn } as const
  const extracted = { success: 'done', failed: 'failed', pending: goesOn } as const
  const active = ENDS[progress.status]
  const steps: [VersionStep['step'], StepState, Date | null][] = [
    ['received', archive === 'expired' ? 'failed' : receivedAt ? 'done' : 'waiting', receivedAt],
    ['read', archive in read ? read[archive as keyof typeof read] : 'waiting', null],
    ['scanned', scannedAt ? 'done' : goesOn, scannedAt],
    ['host_nodes', extracted[progress.extractStatus], readAt],
    ['active', active, active === 'waiting' ? null : movedAt],
  ]
  return steps.map(([step, state, at]) => ({ step, state, ...(at && { at: at.toISOString() }) }))
}

const ENDS: Record<VersionStatus, StepState> = {
  NodeVersionStatusPending: 'waiting',
  NodeVersionStatusActive: 'done',
  NodeVersionStatusFlagged: 'held',
  NodeVersionStatusBanned: 'failed',
  NodeVersionStatusDeleted: 'failed',
}
