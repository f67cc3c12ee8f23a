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
import type { CoreDependencies } from './dependencies.ts'
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
    const records = attempts + (await deleteOldRecords(sql))
    const removed = tasks.length + uploads.length + versions.length + records
    const seen = {
      tasks: tasks.length,
      uploads: uploads.length,
      versions: versions.length,
      records,
    }
    if (removed > 0) log.info(seen, 'purged')
    return removed
  }
