import { randomUUID } from 'node:crypto'
import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'

import { OutboundFault, toTaskFault } from '../src/adapters/outbound.ts'
import { probeImage } from '../src/adapters/image-probe.ts'
import { listTaskInputs, storeFetchedInput } from '../src/db/task-file.ts'
import type { TaskInput } from '../src/db/task-file.ts'
import { TaskFault } from '../src/domain/task-fault.ts'
import { StorageFault } from '../src/adapters/storage/storage.ts'
import type { Storage } from '../src/adapters/storage/storage.ts'
import type { Attempt } from './attempt.ts'
import type { ImageLimits, MediaDependencies } from './dependencies.ts'

/** An input at a local path, with its size in pixels. */
export interface FetchedImage {
  path: string
  width: number
  height: number
}

/**
 * Puts every input of a task at a local path: stored ones from the store, addresses through the guarded client. What was
 * fetched is kept in the store, so that a later attempt does not fetch it again.
 */
export const fetchInputs = async (
  deps: MediaDependencies,
  task: { id: string },
  attempt: Attempt,
): Promise<Record<string, FetchedImage>> => {
  const inputs: Record<string, FetchedImage> = {}
  for (const input of await listTaskInputs(deps.sql, task.id)) {
    const path = join(attempt.scratchDir, input.field)
    attempt.report(`fetching ${input.field}`, 0)
    const { width, height } =
      input.storageKey === null
        ? await fetchAddress(deps, { task, input, path, attempt })
        : await openStored(deps, { key: input.storageKey, input, path })
    inputs[input.field] = { path, width, height }
  }
  return inputs
}

interface Size {
  width: number
  height: number
}

/** A file of the store. The header of an inline image was read when it was taken in, that of a link's file was not. */
const openStored = async (
  { storage, limits }: MediaDependencies,
  { key, input, path }: { key: string; input: TaskInput; path: string },
): Promise<Size> => {
  const { field, width, height } = input
  try {
    if (width === null || height === null) await checkBytes(storage, key, { field, limits })
    await storage.fetchToFile(key, path)
  } catch (error) {
    if (error instanceof StorageFault && error.code === 'not_found')
      throw new TaskFault('download_failed', `/${field} names a file that is no longer there`, {
        cause: error,
      })
    throw error
  }
  return width === null || height === null ? await probeImage(path, limits) : { width, height }
}

const checkBytes = async (
  storage: Storage,
  key: string,
  { field, limits }: { field: string; limits: ImageLimits },
): Promise<void> => {
  const bytes = (await storage.stat(key))?.size ?? 0
  if (bytes > limits.maxBytes)
    throw new TaskFault(
      'file_too_large',
      `/${field}: over the limit of ${limits.maxBytes.toLocaleString('en')} bytes`,
    )
}

interface AddressedInput {
  task: { id: string }
  input: TaskInput
  path: string
  attempt: Attempt
}

const fetchAddress = async (
  { sql, storage, outbound, limits }: MediaDependencies,
  { task, input, path, attempt }: AddressedInput,
): Promise<Size> => {
  const { field, url } = input
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
  return image
}
