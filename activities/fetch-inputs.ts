import { randomUUID } from 'node:crypto'
import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'

import { OutboundFault, toTaskFault } from '../src/adapters/outbound.ts'
import { probeImage } from '../src/adapters/image-probe.ts'
import { listTaskInputs, storeFetchedInput } from '../src/db/task-file.ts'
import type { TaskInput } from '../src/db/task-file.ts'
import { TaskFault } from '../src/domain/task-fault.ts'
import { StorageFault } from '../src/adapters/storage/storage.ts'
import type { Attempt } from './attempt.ts'
import type { MediaDependencies } from './dependencies.ts'

/**
 * Puts every input of a task at a local path: stored ones from the store, addresses through the guarded client. What was
 * fetched is kept in the store, so that a later attempt does not fetch it again.
 */
export const fetchInputs = async (
  deps: MediaDependencies,
  task: { id: string },
  attempt: Attempt,
): Promise<Record<string, { path: string }>> => {
  const inputs: Record<string, { path: string }> = {}
  for (const input of await listTaskInputs(deps.sql, task.id)) {
    const path = join(attempt.scratchDir, input.field)
    attempt.report(`fetching ${input.field}`, 0)
    if (input.storageKey !== null) await openStored(deps, input.storageKey, input, path)
    else await fetchAddress(deps, task, input, path, attempt)
    inputs[input.field] = { path }
  }
  return inputs
}

const openStored = async (
  { storage }: MediaDependencies,
  key: string,
  { field }: TaskInput,
  path: string,
): Promise<void> => {
  try {
    await storage.fetchToFile(key, path)
  } catch (error) {
    if (error instanceof StorageFault && error.code === 'not_found')
      throw new TaskFault('download_failed', `/${field} names a file that is no longer there`, {
        cause: error,
      })
    throw error
  }
}

const fetchAddress = async (
  { sql, storage, outbound, limits }: MediaDependencies,
  task: { id: string },
  { field, url }: TaskInput,
  path: string,
  attempt: Attempt,
): Promise<void> => {
  const digest = await outbound
    .download({
      url: url ?? '',
      toFile: path,
      maxBytes: limits.maxBytes,
      timeoutMs: limits.downloadTimeoutMs,
      maxRedirects: limits.redirects,
      signal: attempt.signal,
    })
    .catch((error: unknown) => {
      throw error instanceof OutboundFault ? toTaskFault(error, `/${field}`) : error
    })
  const image = await probeImage(path, { maxPixels: limits.maxPixels })
  // The engine goes on with its own copy: `putFile` takes the file away.
  const kept = join(attempt.scratchDir, randomUUID())
  await copyFile(path, kept)
  // Named by its content: an attempt that was stopped and goes on later cannot exchange what another one has kept.
  const storageKey = `inputs/${task.id}/${field}-${digest.sha256.slice(0, 16)}.${image.extension}`
  await storage.putFile(storageKey, kept)
  await storeFetchedInput(sql, { taskId: task.id, field, storageKey, ...digest })
}
