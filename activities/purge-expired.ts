import {
  deleteOldAttempts,
  deleteOldRecords,
  listTasksToPurge,
  listUploadsToPurge,
  listVersionsToSweep,
  markTaskPurged,
  markUploadPurged,
  markVersionSwept,
} from '../src/db/shared/purge.ts'
import { deleteOldEndpointEvents } from '../src/db/event/endpoint.ts'
import type { CoreDependencies } from './dependencies.ts'
import { sweepInputs } from './sweep-inputs.ts'
import { removeLeftUploads } from './sweep-uploads.ts'

/**
 * Makes the activity that removes one batch of what is past its age, and tells how much that was. Files go first: when
 * a process is killed between file and row, the next one removes the absent file once more.
 */
export const makePurgeExpired =
  ({ sql, storage, retentionDays, log }: CoreDependencies) =>
  async (): Promise<number> => {
    const tasks = await listTasksToPurge(sql, retentionDays)
    for (const id of tasks) {
      await storage.removePrefix(`inputs/${id}`)
      await storage.removePrefix(`results/${id}`)
      await markTaskPurged(sql, id)
    }
    const uploads = await listUploadsToPurge(sql)
    for (const id of uploads) {
      await storage.removePrefix(`uploads/${id}`)
      await markUploadPurged(sql, id)
    }
    const versions = await listVersionsToSweep(sql)
    for (const id of versions) {
      await removeLeftUploads({ sql, storage }, id)
      await markVersionSwept(sql, id)
    }
    const attempts = await deleteOldAttempts(sql, retentionDays)
    const told = await deleteOldEndpointEvents(sql, retentionDays)
    const records = attempts + told + (await deleteOldRecords(sql))
    const due = tasks.length + uploads.length + versions.length + records
    // It looks at all of the store, so only the last batch of an hour does it.
    const inputs = due === 0 ? await sweepInputs({ sql, storage }) : 0
    const seen = {
      tasks: tasks.length,
      uploads: uploads.length,
      versions: versions.length,
      inputs,
      records,
    }
    if (due + inputs > 0) log.info(seen, 'purged')
    return due + inputs
  }
