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
 * Makes the activity that removes one batch of what is past its age, and tells how much that was. Files go before their
 * row: when a process is killed between them, the next one removes the absent file once more. A file that cannot be
 * removed keeps nothing else, and is told of at the end.
 */
export const makePurgeExpired =
  ({ sql, storage, retentionDays, log }: CoreDependencies) =>
  async (): Promise<number> => {
    const attempts = await deleteOldAttempts(sql, retentionDays)
    const told = await deleteOldEndpointEvents(sql, retentionDays)
    const records = attempts + told + (await deleteOldRecords(sql))
    const faults: unknown[] = []
    const each = async (ids: string[], remove: (id: string) => Promise<void>) => {
      for (const id of ids) await remove(id).catch((error: unknown) => faults.push(error))
      return ids
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
    const versions = await each(await listVersionsToSweep(sql), async (id) => {
      await removeLeftUploads({ sql, storage }, id)
      await markVersionSwept(sql, id)
    })
    const due = tasks.length + uploads.length + versions.length + records
    if (faults.length > 0)
      throw new Error(`${faults.length} of ${due} were not removed`, { cause: faults[0] })
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
