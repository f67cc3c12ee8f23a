import { mkdir, open } from 'node:fs/promises'
import { dirname } from 'node:path'

/** True when an error is one of the system's, with one of these codes. */
export const isCode = (error: unknown, ...codes: string[]): boolean =>
  error instanceof Error && 'code' in error && codes.includes(String(error.code))

/** Turns "there is no such file" into undefined; for `catch`. */
export const noEntry = (error: unknown): undefined => {
  if (!isCode(error, 'ENOENT', 'ENOTDIR')) throw error
}

/** Waits until the bytes of a file are on the disk. */
export const syncFile = async (path: string): Promise<void> => {
  // Windows flushes only what is open for writing; elsewhere a file may be read-only by now.
  const file = await open(path, process.platform === 'win32' ? 'r+' : 'r')
  await file.sync().finally(() => file.close())
}

/**
 * Waits until the names in folders are on the disk. All at once: a journalling file system commits them together, so
 * three cost what one does (4 ms each when done in turn).
 */
export const syncFolders = async (paths: readonly string[]): Promise<void> => {
  if (process.platform !== 'win32') await Promise.all(paths.map(syncFolder))
}

const syncFolder = async (path: string): Promise<void> => {
  const folder = await open(path, 'r')
  await folder.sync().finally(() => folder.close())
}

/** Waits for the ends of all, and throws what one of them has thrown. */
export const untilAllEnd = async (works: readonly Promise<unknown>[]): Promise<void> => {
  await Promise.allSettled(works)
  await Promise.all(works)
}

/** Makes a folder and those above it, and returns the folders that got a new name, for `syncFolders`. */
export const makeFolder = async (path: string): Promise<string[]> => {
  const first = await mkdir(path, { recursive: true })
  const changed: string[] = []
  if (first !== undefined)
    for (let folder = path; folder.length >= first.length; folder = dirname(folder))
      changed.push(dirname(folder))
  return changed
}
