import {
  deleteOldAttempts,
  deleteOldRecords,
  listTasksToPurge,
  listUploadsToPurge,
  listVersionsToCleanUp,
  markTaskPurged,
  markUploadPurged,
  markVersionCleaned,
} from '../src/db/shared/purge.ts'
import { deleteOldEndpointEvents } from '../src/db/event/endpoint.ts'
import type { CoreDependencies } from './dependencies.ts'
import { cleanUpInputs } from './clean-up-inputs.ts'
import { removeLeftUploads } from './clean-up-uploads.ts'

/**
 * Makes the activity that removes one batch of what is past its age, and returns how much that was. Files go before
 * their row: when a process is killed between them, the next one removes the absent file once more. A file that cannot
 * be removed keeps nothing else: only the last batch, which has removed nothing, fails for it.
 */
export const makePurgeExpired =
  ({ sql, storage, retentionDays, log }: CoreDependencies) =>
  async (): Promise<number> => {
    const attempts = await deleteOldAttempts(sql, retentionDays)
    const events = await deleteOldEndpointEvents(sql, retentionDays)
    const records = attempts + events + (await deleteOldRecords(sql))
    const errors: unknown[] = []
    const each = async (ids: string[], remove: (id: string) => Promise<void>): Promise<number> => {
      const before = errors.length
      for (const id of ids) await remove(id).catch((error: unknown) => errors.push(error))
      return ids.length - (errors.length - before)
    }
    const tasks = await each(await listTasksToPurge(sql, retentionDays), async (id) => {
      await storage.removePrefix(`inputs/${id}`)
      await storage.removePrefix(`results/${id}`)
      await markTaskPurged(sql, id)
    })
    const uploads = await each(await listUploadsToPurge(sql), async (id) => {
      await storage.removePrefix(`uploads/${id}`)
      await markUploadPurged(sql, id)
    })
    const versions = await each(await listVersionsToCleanUp(sql), async (id) => {
      await removeLeftUploads({ sql, storage }, id)
      await markVersionCleaned(sql, id)
    })
    const removed = tasks + uploads + versions + records
    // It looks at all of the store, so only the last batch of an hour does it.
    const inputs = removed === 0 ? await cleanUpInputs({ sql, storage }) : 0
    if (removed + inputs > 0) log.info({ tasks, uploads, versions, inputs, records }, 'purged')
    if (removed === 0 && errors.length > 0)
      throw new Error(`${errors.length} could not be removed`, { cause: errors[0] })
    return removed + inputs
  }
