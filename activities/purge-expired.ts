import { deleteOldRecords } from '../src/db/shared/purge.ts'
import { listVersionsToCleanUp, markVersionCleaned } from '../src/db/registry/archive.ts'
import { deleteOldAttempts } from '../src/db/event/attempt.ts'
import { deleteOldPlacements } from '../src/db/task/placement.ts'
import {
  listTasksToPurge,
  listUploadsToPurge,
  listUnknownTasks,
  purgeUpload,
} from '../src/db/task/purge.ts'
import type { Storage } from '../src/adapters/storage/storage.ts'
import { deleteOldBulks, listUnknownBulks } from '../src/db/bulk/bulk.ts'
import { listUnknownPictures } from '../src/db/registry/picture.ts'
import { listDueRatings, renewRatingMean, showDueRating } from '../src/db/registry/rating-due.ts'
import { purgeTask } from '../src/db/task/task-deletion.ts'
import { deleteOldEndpointEvents } from '../src/db/event/endpoint.ts'
import { unitOfWork } from '../src/db/unit-of-work.ts'
import { isUuid } from '../src/domain/shared/uuid.ts'
import type { CoreDependencies } from './tasks/dependencies.ts'
import { removeLeftUploads } from './version.ts'

export type PurgeExpired = ReturnType<typeof makePurgeExpired>

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
    const placements = await deleteOldPlacements(sql, retentionDays)
    const bulks = await deleteOldBulks(sql, retentionDays)
    const records = attempts + events + placements + bulks + (await deleteOldRecords(sql))
    const errors: unknown[] = []
    const each = async (ids: string[], remove: (id: string) => Promise<void>): Promise<number> => {
      const before = errors.length
      for (const id of ids) await remove(id).catch((error: unknown) => errors.push(error))
      return ids.length - (errors.length - before)
    }
    const tasks = await each(await listTasksToPurge(sql, retentionDays), (id) =>
      purgeTask({ sql, storage }, id),
    )
    const uploads = await each(await listUploadsToPurge(sql), (id) =>
      purgeUpload({ sql, storage }, id),
    )
    const versions = await each(await listVersionsToCleanUp(sql), async (id) => {
      await removeLeftUploads({ sql, storage }, id)
      await markVersionCleaned(sql, id)
    })
    const due = await listDueRatings(sql)
    for (const rating of due) await unitOfWork({ sql }, (sql) => showDueRating(sql, rating))
    const removed = tasks + uploads + versions + records + due.length
    // These look at all of the store and of the nodes, so only the last batch of an hour does them.
    if (removed === 0) await renewRatingMean(sql)
    const unknown = {
      inputs: (ids: readonly string[]) => listUnknownTasks(sql, ids),
      pictures: (ids: readonly string[]) => listUnknownPictures(sql, ids),
      batches: (ids: readonly string[]) => listUnknownBulks(sql, ids),
    }
    const folders = { inputs: 0, pictures: 0, batches: 0 }
    for (const folder of removed === 0 ? FOLDERS : [])
      folders[folder] = await cleanUpFolder(storage, folder, unknown[folder])
    const all = removed + folders.inputs + folders.pictures + folders.batches
    if (all > 0) log.info({ tasks, uploads, versions, records, ...folders }, 'purged')
    if (removed === 0 && errors.length > 0)
      throw new Error(`${errors.length} could not be removed`, { cause: errors[0] })
    return all
  }

/** A request moves its files into the store some milliseconds before its commit; a day leaves time for any mishap. */
const LEFT_MS = 86_400_000
const FOLDERS = ['inputs', 'pictures', 'batches'] as const
const BATCH = 1000

/**
 * Removes the inputs of tasks, or requests of batches, that do not exist, or pictures that nothing names: the api was killed between store and
 * commit, the commit failed, or a picture was replaced. No row names them, so this goes by the folders of the store.
 * Returns how many that were.
 */
const cleanUpFolder = async (
  storage: Storage,
  folder: (typeof FOLDERS)[number],
  listUnknown: (ids: readonly string[]) => Promise<string[]>,
): Promise<number> => {
  const now = Date.now()
  let removed = 0
  const cleanUp = async (ids: readonly string[]): Promise<void> => {
    for (const id of await listUnknown(ids)) {
      const files = await storage.list(`${folder}/${id}`)
      const stats = await Promise.all(files.map((key) => storage.stat(key)))
      const written = Math.max(...stats.map((stat) => stat?.writtenAt ?? 0))
      // A folder without files may be one that a request has just made.
      if (files.length === 0 || written > now - LEFT_MS) continue
      await storage.removePrefix(`${folder}/${id}`)
      removed += 1
    }
  }
  let ids: string[] = []
  for await (const name of storage.listFolders(folder)) {
    if (isUuid(name)) ids.push(name)
    if (ids.length < BATCH) continue
    await cleanUp(ids)
    ids = []
  }
  await cleanUp(ids)
  return removed
}
