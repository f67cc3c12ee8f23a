import type {
  extractHostNodes,
  publishVersion,
} from '../../../workflows/registry/publish-version.ts'
import type { OutboxSignal, OutboxStart } from '../../platform/db/outbox.ts'
import type { CheckTiming } from '../domain/check-timing.ts'
import type { VersionStatus } from '../domain/version.ts'
import { LOW_PRIORITY, NORMAL_PRIORITY, startOptions } from '../../platform/temporal/start.ts'

export interface VersionFacts {
  versionId: string
  nodeId: string
  version: string
  publisherId: string
  /** The user who published it. */
  owner: string
  /** By default "publish my-pack@1.2.0". */
  summary?: string
}

/** Options that the workflow of a version starts with. */
export interface VersionStarts {
  taskQueue: string
  /** Durations that differ from the usual ones. */
  checkTiming?: Partial<CheckTiming>
}

export const publishWorkflowId = (versionId: string): string => `publish-version/${versionId}`

/** Starts the workflow that takes a version from its publication to the end of its checks. */
export const startPublishVersion = (
  { versionId, nodeId, version, publisherId, owner, summary }: VersionFacts,
  { taskQueue, checkTiming }: VersionStarts,
): OutboxStart => {
  const status = 'NodeVersionStatusPending' satisfies VersionStatus
  const options = startOptions(
    {
      kind: 'publish',
      owner,
      summary: summary ?? `publish ${nodeId}@${version}`,
      page: `/registry/${nodeId}/${version}`,
    },
    { status, priorityKey: NORMAL_PRIORITY },
  )
  const found = { KilnPublisher: publisherId, KilnNode: nodeId, KilnVersion: version }
  return {
    kind: 'start',
    workflowType: 'publishVersion',
    workflowId: publishWorkflowId(versionId),
    taskQueue,
    args: [{ versionId, ...(checkTiming && { timing: checkTiming }) }] satisfies Parameters<
      typeof publishVersion
    >,
    options: { ...options, searchAttributes: { ...options.searchAttributes, ...found } },
  }
}

/**
 * The signal that an archive has arrived. Its handler is in workflows/registry/publish-version.ts. Trigger `upload_wait_changed` (0066)
 * sends the same.
 */
export const signalArchiveUploaded = (versionId: string): OutboxSignal => ({
  kind: 'signal',
  workflowId: `receive-archive/${versionId}`,
  signalName: 'archiveUploaded',
})

/** Starts the workflow that reads the archive of a version, by itself. */
export const startExtraction = (facts: VersionFacts, options: VersionStarts): OutboxStart => {
  const { versionId, nodeId, version } = facts
  const summary = facts.summary ?? `host nodes of ${nodeId}@${version}`
  const start = startPublishVersion({ ...facts, summary }, options)
  // This workflow moves no status, so the attribute would never change.
  const { KilnStatus: _status, ...searchAttributes } = start.options.searchAttributes
  return {
    ...start,
    options: { ...start.options, searchAttributes },
    kind: 'restart',
    workflowType: 'extractHostNodes',
    workflowId: `extract-host-nodes/${versionId}`,
    args: [
      { versionId, ...(options.checkTiming && { timing: options.checkTiming }) },
    ] satisfies Parameters<typeof extractHostNodes>,
  }
}

/** Starts one new reading of an archive, behind all other work. A reading that has succeeded does not run again. */
export const startReinspection = (
  kind: 'reextract' | 'rescan',
  { versionId, nodeId, version }: Pick<VersionFacts, 'versionId' | 'nodeId' | 'version'>,
  below: number,
  { taskQueue }: { taskQueue: string },
) => ({
  workflowType: kind === 'reextract' ? 'reextractVersion' : 'rescanVersion',
  workflowId: `${kind}/${versionId}/${below}`,
  taskQueue,
  args: [{ versionId }],
  staticSummary: `${kind} ${nodeId}@${version}`,
  priority: { priorityKey: LOW_PRIORITY },
  workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY' as const,
})
