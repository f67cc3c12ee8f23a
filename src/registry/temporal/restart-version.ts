import type { Queryable } from '../../platform/db/client.ts'
import { findOpenVersion } from '../db/open-version.ts'
import type { OpenVersion } from '../db/open-version.ts'
import type { Enqueue } from '../../platform/db/unit-of-work.ts'
import { SUMMARY_END, unchanged, type Operated } from '../../tasks/temporal/operator.ts'
import { endOpen } from '../../platform/temporal/start.ts'
import { startPublishVersion, type VersionStarts } from './version.ts'

/** Ends the workflow of a version that is pending and starts it again. Late steps of the old workflow change nothing that the new one would not. */
export const restartVersion = async (
  sql: Queryable,
  versionId: string,
  { enqueue, ...options }: VersionStarts & { enqueue: Enqueue },
): Promise<Operated<OpenVersion> | undefined> => {
  const version = await findOpenVersion(sql, versionId)
  if (version?.status !== 'NodeVersionStatusPending') return version && unchanged(version)
  const summary = `publish ${version.nodeId}@${version.version}, ${SUMMARY_END}`
  await enqueue(endOpen(startPublishVersion({ ...version, versionId, summary }, options)))
  return { ...unchanged(version), changed: true }
}
