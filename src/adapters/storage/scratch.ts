import { lstat, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'

import { noEntry } from './files.ts'

/**
 * Removes what lies in the folders of a scratch folder (or of the one named) and was last written before a time in
 * unix milliseconds; returns how many entries. One that vanishes meanwhile was finished by its owner.
 */
export const sweepFolder = async (
  scratch: string,
  before: number,
  purpose?: string,
): Promise<number> => {
  const purposes = purpose === undefined ? await names(scratch) : [purpose]
  let removed = 0
  for (const folder of purposes.map((name) => join(scratch, name)))
    for (const name of await names(folder)) {
      const path = join(folder, name)
      if ((await lastWritten(path)) >= before) continue
      await rm(path, { recursive: true, force: true })
      removed += 1
    }
  return removed
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
