import { mkdir, open } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Whether an error is one of the system's, with one of these codes. */
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

/** Waits until the names in a folder are on the disk. */
export const syncFolder = async (path: string): Promise<void> => {
  if (process.platform === 'win32') return
  const folder = await open(path, 'r')
  await folder.sync().finally(() => folder.close())
}

/** Makes a folder and those above it; each new name is on the disk when this returns. */
export const makeFolder = async (path: string): Promise<void> => {
  const first = await mkdir(path, { recursive: true })
  if (first === undefined) return
  for (let folder = path; folder.length >= first.length; folder = dirname(folder))
    await syncFolder(dirname(folder))
}
