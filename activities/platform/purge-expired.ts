import type { Storage } from '../../src/platform/storage/storage.ts'
import { isUuid } from '../../src/platform/domain/uuid.ts'
import type { Log } from '../../src/platform/log.ts'

/** Removals by age of one area. */
export interface Purges {
  /** Each deals with a batch of rows, and returns how many that were. */
  records?: readonly (() => Promise<number>)[]
  /** Rows whose files go with them. */
  files?: readonly FilePurge[]
  folders?: readonly PurgedFolder[]
  /** Looks at all there is, so only the last batch of an hour does it. */
  last?: () => Promise<void>
}

interface FilePurge {
  /** A word for the log. */
  name: string
  list(): Promise<string[]>
  remove(id: string): Promise<void>
}

/** A folder of the store that has a folder for each of some rows. */
interface PurgedFolder {
  name: string
  /** Lists the given ids that no row has. */
  listUnknown(ids: readonly string[]): Promise<string[]>
}

export type PurgeExpired = ReturnType<typeof makePurgeExpired>

/**
 * Makes the activity that removes one batch of what is past its age, and returns how much that was. Files go before
 * their row: when a process is killed between them, the next one removes the absent file once more. A file that cannot
 * be removed keeps nothing else: only the last batch, which has removed nothing, fails for it.
 */
export const makePurgeExpired =
  ({ storage, log }: { storage: Storage; log: Log }, purges: readonly Purges[]) =>
  async (): Promise<number> => {
    let records = 0
    const removed: Record<string, number> = {}
    const countAll = (): number =>
      Object.values(removed).reduce((sum, count) => sum + count, records)
    for (const purge of purges.flatMap(({ records = [] }) => records)) records += await purge()
    const errors: unknown[] = []
    for (const { name, list, remove } of purges.flatMap(({ files = [] }) => files)) {
      const ids = await list()
      const before = errors.length
      for (const id of ids) await remove(id).catch((error: unknown) => errors.push(error))
      removed[name] = ids.length - (errors.length - before)
    }
    const isLast = countAll() === 0
    if (isLast) {
      for (const { last } of purges) await last?.()
      for (const folder of purges.flatMap(({ folders = [] }) => folders))
        removed[folder.name] = await cleanUpFolder(storage, folder)
    }
    const all = countAll()
    if (all > 0) log.info({ records, ...removed }, 'purged')
    if (isLast && errors.length > 0)
      throw new Error(`${errors.length} could not be removed`, { cause: errors[0] })
    return all
  }

/** A request moves its files into the store some milliseconds before its commit; a day leaves time for any mishap. */
const LEFT_MS = 86_400_000
const BATCH = 1000

/**
 * Removes the inputs of tasks, or requests of batches, that do not exist, or pictures that nothing names: the api was killed between store and
 * commit, the commit failed, or a picture was replaced. No row names them, so this goes by the folders of the store.
 * Returns how many that were.
 */
const cleanUpFolder = async (
  storage: Storage,
  { name: folder, listUnknown }: PurgedFolder,
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
