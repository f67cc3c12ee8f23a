import { lstat, mkdtemp, readdir, rm, rmdir } from 'node:fs/promises'
import { join } from 'node:path'

import { noEntry } from './files.ts'

/**
 * Removes what lies in the folders of a scratch folder (or of the one named) and was last written so many milliseconds
 * ago; returns how many entries. One that vanishes meanwhile was finished by its owner.
 */
export const cleanUpFolder = async (
  scratch: string,
  ageMs: number,
  purpose?: string,
): Promise<number> => {
  const purposes = purpose === undefined ? await names(scratch) : [purpose]
  let removed = 0
  for (const folder of purposes.map((name) => join(scratch, name))) {
    const found = await names(folder)
    if (found.length === 0) continue
    const before = (await touchFolder(folder)) - ageMs
    for (const name of found) {
      const path = join(folder, name)
      if ((await lastWritten(path)) >= before) continue
      await rm(path, { recursive: true, force: true })
      removed += 1
    }
  }
  return removed
}

/**
 * Makes a folder look written to, and returns when that was, in unix milliseconds by the clock of the file system. The
 * clocks of processes that share it may differ by hours.
 */
export const touchFolder = async (folder: string): Promise<number> => {
  await rmdir(await mkdtemp(join(folder, 'touch-')))
  return (await lstat(folder)).mtimeMs
}

/** The time of a folder changes only when a name in it changes, so the files inside count, too. */
const lastWritten = async (path: string): Promise<number> => {
  const stats = await lstat(path).catch(noEntry)
  if (stats === undefined) return Number.POSITIVE_INFINITY
  if (!stats.isDirectory()) return stats.mtimeMs
  const inner = await Promise.all(
    (await names(path)).map((name) => lstat(join(path, name)).catch(noEntry)),
  )
  return Math.max(stats.mtimeMs, ...inner.map((file) => file?.mtimeMs ?? 0))
}

const names = async (folder: string): Promise<string[]> =>
  (await readdir(folder).catch(noEntry)) ?? []
