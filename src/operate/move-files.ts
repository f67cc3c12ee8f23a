import { createHash } from 'node:crypto'
import { pipeline } from 'node:stream/promises'

import { StorageError, type Storage } from '../platform/storage/storage.ts'
import { openStores } from '../platform/process/open-storage.ts'
import { OperatorError } from '../platform/process/operator-error.ts'
import type { Config } from '../compose/settings/env.ts'
import { counted } from '../platform/domain/counted.ts'

/** Every key begins with one of them. */
const FOLDERS = ['inputs', 'results', 'uploads', 'archives']
/** A bucket writes two large files at once. A third one would wait for a minute, and then end the move. */
const AT_ONCE = 2
const SAY_EVERY_MS = 5000

/** Moves every file of STORAGE_ALSO to STORAGE. It can be stopped and repeated. Returns how many it moved. */
export const moveFiles = async (
  config: Config,
  target: Config['STORAGE'],
  write: (line: string) => void,
): Promise<string> => {
  const { STORAGE, STORAGE_ALSO } = config
  const { to, from } = await openStores(config)
  if (target !== STORAGE || !from)
    throw new OperatorError(
      `files move from STORAGE_ALSO to STORAGE, which every process has first: these are ${STORAGE_ALSO} and ${STORAGE}; docs/operations/scale.md has the steps`,
    )
  return await moveAll({ to, from }, write)
}

interface Stores {
  to: Storage
  from: Storage
}

/** Moves all files from one store to another, while a service uses both by `makeMovingStorage`. */
export const moveAll = async (stores: Stores, write: (line: string) => void): Promise<string> => {
  const keys = listAll(stores.from)
  const moved = { files: 0, bytes: 0 }
  const report = () => `${counted(moved.files, 'file')}, ${(moved.bytes / 1e6).toFixed(1)} MB`
  let reported = Date.now()
  const work = async (): Promise<void> => {
    for (let next = await keys.next(); next.done !== true; next = await keys.next()) {
      // Added afterwards: the others add meanwhile.
      const bytes = await move(stores, next.value)
      moved.bytes += bytes
      moved.files += 1
      if (Date.now() - reported < SAY_EVERY_MS) continue
      reported = Date.now()
      write(`${report()} so far`)
    }
  }
  const ends = await Promise.allSettled(Array.from({ length: AT_ONCE }, work))
  for (const end of ends)
    if (end.status === 'rejected')
      throw new OperatorError(`${report()} moved, then ${String(end.reason)}: run it again`)
  return `${report()} moved; nothing is left to move`
}

async function* listAll(store: Storage): AsyncGenerator<string> {
  for (const folder of FOLDERS)
    for await (const name of store.listFolders(folder)) yield* await store.list(`${folder}/${name}`)
}

/**
 * Moves a file and returns how many bytes went. One that is removed meanwhile, by age or by its owner, is not wanted
 * there either.
 */
const move = async (stores: Stores, key: string): Promise<number> => {
  const { to, from } = stores
  const bytes = await copy(stores, key).catch(async (error: unknown) => {
    const isGone = error instanceof StorageError && error.code === 'not_found'
    if (!isGone || (await from.stat(key))) throw error
    return 0
  })
  const isWanted = (await from.stat(key)) !== undefined
  await (isWanted ? from : to).remove(key)
  return bytes
}

/** Copies, and reads the copy. */
const copy = async ({ to, from }: Stores, key: string): Promise<number> => {
  const { stream } = await from.open(key)
  const sent = await to.putStream(key, stream, { maxBytes: Number.MAX_SAFE_INTEGER })
  const kept = createHash('sha256')
  await pipeline((await to.open(key)).stream, kept)
  if (kept.digest('hex') !== sent.sha256)
    throw new Error(`${key} came back with another digest; it stays where it was`)
  return sent.bytes
}
