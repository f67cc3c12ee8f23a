import { listStalledExtractions, listStalledVersions } from '../db/open-version.ts'
import type { OpenVersion } from '../db/open-version.ts'
import { giveUpChecks } from '../db/version-transition.ts'
import { unitOfWork } from '../../platform/db/unit-of-work.ts'
import type { CheckErrorCode } from '../domain/archive-check.ts'
import {
  startAgain,
  type Check,
  type Reconciled,
  type ReconcileDeps,
} from '../../platform/temporal/reconcile.ts'
import { publishWorkflowId, startExtraction, startPublishVersion } from './version.ts'
import type { VersionStarts } from './version.ts'

type Options = ReconcileDeps & VersionStarts

export const makeReconciledVersions = (options: Options): Reconciled[] => [
  {
    list: listStalledVersions,
    reconcile: (version: OpenVersion, check) => reconcileVersion(options, version, check),
  },
  {
    list: listStalledExtractions,
    reconcile: (version: OpenVersion, check) => reconcileExtraction(options, version, check),
  },
]

/**
 * Starts the lost workflow of a Pending version again. If somebody closed it by hand and there is an archive, the checks
 * give up instead: only an operator knows why they were ended. Without an archive nothing was checked yet, and a workflow
 * must take the upload or end the version.
 */
const reconcileVersion = async (
  options: Options,
  version: OpenVersion,
  check: Check,
): Promise<void> => {
  const summary = `publish ${version.nodeId}@${version.version}, started again`
  const start = startPublishVersion({ ...version, versionId: version.id, summary }, options)
  const state = await check(start.workflowId)
  if (state === undefined) return
  options.log.warn({ version_id: version.id, workflow: state }, 'version reconciled')
  options.metrics?.reconciled.inc({ what: 'version', workflow: state })
  if (state === 'closed' && version.archiveState !== 'awaiting')
    await unitOfWork(options, (sql) =>
      giveUpChecks(sql, { id: version.id, code: 'workflow_lost' satisfies CheckErrorCode }),
    )
  else await startAgain(options, { ...start, kind: state === 'missing' ? 'start' : 'restart' })
}

/** Leaves an extraction alone while either of its workflows runs. */
const reconcileExtraction = async (
  options: Options,
  version: OpenVersion,
  check: Check,
): Promise<void> => {
  const start = startExtraction({ ...version, versionId: version.id }, options)
  const states = [await check(start.workflowId), await check(publishWorkflowId(version.id))]
  if (states.includes(undefined)) return
  options.log.warn({ version_id: version.id }, 'extraction of host nodes reconciled')
  options.metrics?.reconciled.inc({ what: 'extraction', workflow: 'missing' })
  await startAgain(options, start)
}
