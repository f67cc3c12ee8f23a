import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import {
  copyFile,
  link,
  lstat,
  open,
  opendir,
  readdir,
  rename,
  rm,
  unlink,
  writeFile,
} from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'

import { isCode, makeFolder, noEntry, syncFile, syncFolders, untilAllEnd } from './files.ts'
import { makeMeasure } from './measure.ts'
import { cleanUpFolder } from './scratch.ts'
import { keySegments, StorageError } from './storage.ts'
import type { ByteRange, Storage, StoredFile } from './storage.ts'

/**
 * Keeps files in a folder. Unfinished files lie in `.scratch` below it: on the same file system, so that a rename
 * publishes them; out of reach of every key; and in one place, so that one listing finds what a killed process left.
 */
export const makeLocalStorage = ({ root }: { root: string }): Storage => {
  const base = resolve(root)
  const at = (key: string) => pathOf(base, keySegments(key))
  const folderAt = (prefix: string) => at(prefix.replace(/\/$/, ''))
  const scratchDir = async (purpose = 'other') => {
    const folder = join(base, SCRATCH, ...keySegments(purpose))
    await syncFolders(await makeFolder(folder))
    return folder
  }
  const scratchFile = async (purpose: string) => join(await scratchDir(purpose), randomUUID())

  const cleanUp = (ageMs: number, purpose?: string) =>
    cleanUpFolder(join(base, SCRATCH), ageMs, purpose)

  return {
    scratchDir,
    putFile: async (key, path) => publish([{ path, target: await at(key), write: syncFile }]),
    putFiles: async (folder, files) => {
      const [target, scratch] = [await at(folder), await scratchDir('put')]
      await publish(
        Object.entries(files).map(([name, file]) => ({
          target: join(target, ...keySegments(name)),
          ...(typeof file === 'string'
            ? { path: file, write: syncFile }
            : { path: join(scratch, randomUUID()), write: (path) => writeBytes(path, file) }),
        })),
      )
    },
    putStream: async (key, readable, { maxBytes }) => {
      const [target, path] = [await at(key), await scratchFile('put')]
      const measure = makeMeasure(maxBytes)
      await publish([{ path, target, write: () => writeStream(path, measure.pass(readable)) }])
      return measure.digest()
    },
    open: async (key, range) => openFile(key, await at(key), range),
    stat: async (key) => {
      const stats = await lstat(await at(key)).catch(noEntry)
      return stats?.isFile() ? { size: stats.size, writtenAt: stats.mtimeMs } : undefined
    },
    fetchToFile: async (key, path) => {
      const source = await at(key)
      await rm(path, { force: true })
      await linkOrCopy(source, path).catch(notFound(key))
    },
    remove: async (key) => rm(await at(key), { force: true }),
    removePrefix: async (prefix) => rm(await folderAt(prefix), { recursive: true, force: true }),
    list: async (prefix) =>
      prefix === ''
        ? listKeys(base, '')
        : listKeys(await folderAt(prefix), prefix.replace(/\/?$/, '/')),
    async *listFolders(prefix) {
      const folder = await opendir(await folderAt(prefix), { bufferSize: 1000 }).catch(noEntry)
      for await (const entry of folder ?? []) if (entry.isDirectory()) yield entry.name
    },
    check: async () => {
      const probe = await scratchFile('check')
      // One byte: an empty file can still be made on a full disk. No fsync, which may wait for other writers.
      await writeFile(probe, '1', { flag: 'wx' }).finally(() => rm(probe, { force: true }))
    },
    cleanUpTemporary: async (olderThanMs, purpose) => {
      if (purpose === undefined) return cleanUp(olderThanMs)
      const own = await Promise.all(
        OWN.map((name) => cleanUp(Math.max(olderThanMs, STALLED_MS), name)),
      )
      return own.reduce((sum, removed) => sum + removed, await cleanUp(olderThanMs, purpose))
    },
  }
}

/** Begins with a dot, which no segment of a key may. */
const SCRATCH = '.scratch'
/** Folders in it for what the store itself writes. */
const OWN = ['put', 'check']
/** When a stream into the store has stood still for so long, its process is gone. */
const STALLED_MS = 600_000

/** The path of a key. Throws `key_invalid` when a part of it is a symbolic link, which could lead out of the folder. */
const pathOf = async (base: string, segments: string[]): Promise<string> => {
  let path = base
  for (const segment of segments) {
    path = join(path, segment)
    const stats = await lstat(path).catch(noEntry)
    if (stats === undefined) return join(base, ...segments)
    if (stats.isSymbolicLink())
      throw new StorageError('key_invalid', `a link lies on the path of ${segments.join('/')}`)
  }
  return path
}

interface NewFile {
  /** Its unfinished one, which is gone afterwards. */
  path: string
  target: string
  /** Ends when its bytes are on the disk. */
  write(path: string): Promise<void>
}

/** fsync, rename, fsync of the one folder: after a power cut the names lead to all bytes or to none. */
const publish = async (files: readonly NewFile[]): Promise<void> => {
  try {
    await untilAllEnd(files.map(({ path, write }) => write(path)))
    const folder = dirname(files[0]?.target ?? '')
    const changed = await makeFolder(folder)
    for (const { path, target } of files)
      await rename(path, target).catch((error: unknown) => {
        if (!isCode(error, 'EXDEV')) throw error
        return copyAcross(path, target)
      })
    await syncFolders([...changed, folder])
  } finally {
    // A rename onto another link to the same bytes does nothing, so the first name is still there.
    await Promise.all(files.map(({ path }) => unlink(path).catch(noEntry)))
  }
}

const writeBytes = (path: string, bytes: Uint8Array): Promise<void> =>
  writeFile(path, bytes, { flag: 'wx', flush: true })

/** For a scratch file on another file system, where a rename is not possible. */
const copyAcross = async (path: string, target: string): Promise<void> => {
  const temporary = join(dirname(target), `.${randomUUID()}`)
  try {
    await copyFile(path, temporary, constants.COPYFILE_EXCL)
    await syncFile(temporary)
    await rename(temporary, target)
  } finally {
    await rm(temporary, { force: true })
  }
}

const writeStream = async (path: string, bytes: AsyncIterable<Buffer>): Promise<void> => {
  const file = await open(path, 'wx')
  // The stream closes the file, also when it fails.
  await pipeline(bytes, file.createWriteStream({ flush: true }))
}

const openFile = async (key: string, path: string, range?: ByteRange): Promise<StoredFile> => {
  const file = await open(path, constants.O_RDONLY | NO_FOLLOW).catch(notFound(key))
  try {
    const stats = await file.stat()
    if (!stats.isFile()) throw new StorageError('not_found', `no file ${key}`)
    return { stream: file.createReadStream(range), size: stats.size }
  } catch (error) {
    await file.close()
    throw error
  }
}

// Undefined on Windows, where opening a link below the folder is caught by pathOf alone.
const NO_FOLLOW = constants.O_NOFOLLOW ?? 0

const linkOrCopy = (source: string, path: string): Promise<void> =>
  link(source, path).catch((error: unknown) => {
    if (!isCode(error, 'EXDEV', 'EPERM', 'EMLINK', 'ENOTSUP', 'ENOSYS')) throw error
    return copyFile(source, path, constants.COPYFILE_EXCL)
  })

const notFound = (key: string) => (error: unknown) => {
  if (!isCode(error, 'ENOENT', 'ENOTDIR')) throw error
  throw new StorageError('not_found', `no file ${key}`, { cause: error })
}

const listKeys = async (folder: string, prefix: string): Promise<string[]> => {
  const entries = (await readdir(folder, { withFileTypes: true }).catch(noEntry)) ?? []
  const keys: string[] = []
  for (const entry of entries) {
    if (entry.name.startsWith('.')) continue
    if (entry.isFile()) keys.push(prefix + entry.name)
    if (entry.isDirectory())
      keys.push(...(await listKeys(join(folder, entry.name), `${prefix}${entry.name}/`)))
  }
  return keys.toSorted()
}
