import { lutimes, readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { findProcessStart } from '../../src/platform/adapters/orphan.ts'
import { listFolder, type Service } from '../support/service.ts'
import { waitFor } from '../support/wait.ts'

const scratchOf = (service: Service): string => join(service.storagePath, '.scratch')

/** Names of what is unfinished in the store, below the folders of the processes. */
export const listScratch = async (service: Service): Promise<string[]> => {
  const entries = await listFolder(scratchOf(service))
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
}

/** Milliseconds after which everything untouched is cleaned up: a write of the store itself has ten minutes. */
const CLEANED_MS = 660_000

/** Lets everything unfinished look as if nobody had touched it for long, which saves the test that time. */
export const ageScratch = async (service: Service): Promise<void> => {
  const then = new Date(Date.now() - CLEANED_MS)
  for (const { parentPath, name } of await listFolder(scratchOf(service)))
    // A living worker may remove what it has finished meanwhile.
    await lutimes(join(parentPath, name), then, then).catch(() => {})
}

/**
 * Ages what is unfinished, and waits until living processes have removed it. The record of a child that lives stays: one
 * that reads archives waits for the next.
 */
export const untilCleaned = async (service: Service): Promise<void> => {
  await ageScratch(service)
  await waitFor('nothing unfinished is left', async () => {
    const left = await listScratch(service)
    return (await Promise.all(left.map(isOfLivingChild))).every(Boolean)
  })
}

/**
 * Both it and the worker that started it run. A dead child may stay a zombie for a while, and one whose worker was killed
 * may take a moment to end.
 */
const isOfLivingChild = async (path: string): Promise<boolean> => {
  if (!path.endsWith('.child.json')) return false
  const record = await readFile(path, 'utf8')
    .then((text) => JSON.parse(text) as Record<string, unknown>)
    // Removed meanwhile, or not written to its end.
    .catch(() => undefined)
  if (record === undefined) return false
  const { group, groupStart, owner, ownerStart } = record
  return (
    (await findProcessStart(Number(group))) === groupStart &&
    (await findProcessStart(Number(owner))) === ownerStart
  )
}
