import { randomUUID } from 'node:crypto'
import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'

import { OutboundError } from '../../src/platform/outbound/error.ts'
import { StorageError } from '../../src/platform/storage/storage.ts'
import type { Storage } from '../../src/platform/storage/storage.ts'
import { listTaskInputs, recordFrames, storeFetchedInput } from '../../src/tasks/db/task-file.ts'
import type { TaskInput } from '../../src/tasks/db/task-file.ts'
import type { Size } from '../../src/platform/domain/size.ts'
import type { DownloadLimits } from '../../src/platform/domain/download-limits.ts'
import { TaskError } from '../../src/tasks/domain/task-error.ts'
import { toTaskError } from './download-error.ts'
import type { Signer } from '../../src/platform/adapters/signing.ts'
import type { ClaimedTask } from '../../src/tasks/db/task-transition.ts'
import type { RenderAttempt } from './render-attempt.ts'
import type { RenderDependencies } from './dependencies.ts'

/** An input at a local path, with its size in pixels. */
export interface FetchedInput extends Size {
  path: string
}

/** Rule that an input must meet. */
export interface InputRule {
  /** Names it in messages: a JSON Pointer into the body. */
  pointer: string
  limits: DownloadLimits
  /** Converts an error to the one of the task's family. */
  toError?(error: TaskError): Error
  /** Finds what a file is. Throws the error that ends the task when it is nothing that can be used. */
  inspect(path: string): Promise<{ extension: string; frames?: number } & Size>
}

interface FetchOptions {
  task: { id: string }
  attempt: RenderAttempt
  ruleOf: (field: string) => InputRule
}

/**
 * Puts every input of a task at a local path: stored ones come from the store, addresses through the guarded client. A
 * fetched input is kept in the store, so that a later attempt does not fetch it again.
 */
export const fetchInputs = async (
  deps: RenderDependencies,
  { task, attempt, ruleOf }: FetchOptions,
): Promise<Record<string, FetchedInput>> => {
  const inputs: Record<string, FetchedInput> = {}
  for (const input of await listTaskInputs(deps.sql, task.id)) {
    const rule = ruleOf(input.field)
    // Fields of custom kinds have any name, and other files are beside it.
    const path = inputPath(attempt, input.field)
    attempt.report(`fetching ${input.field}`, 0)
    const {
      width,
      height,
      frames = 1,
    } = await (
      input.storageKey === null
        ? fetchAddress(deps, { task, input, rule, path, attempt })
        : openStored(deps, { key: input.storageKey, input, rule, path })
    ).catch((error: unknown) => {
      throw error instanceof TaskError && rule.toError ? rule.toError(error) : error
    })
    if (frames > 1) await recordFrames(deps.sql, { taskId: task.id, field: input.field, frames })
    inputs[input.field] = { path, width, height }
  }
  return inputs
}

/** Finds where an input is put. */
export const inputPath = ({ scratchDir }: RenderAttempt, field: string): string =>
  join(scratchDir, `input-${field}`)

/** Signs links to the inputs of a task, by field: those of the first claim, so that each submission has the same. */
export const signInputs = async (
  { sql, signer }: Pick<RenderDependencies, 'sql'> & { signer: Pick<Signer, 'signFile'> },
  { id, claimedAt }: Pick<ClaimedTask, 'id' | 'claimedAt'>,
): Promise<Record<string, string>> => {
  const inputs = await listTaskInputs(sql, id)
  return Object.fromEntries(
    inputs.map(({ field, servedName }) => [field, signer.signFile(id, servedName, claimedAt)]),
  )
}

interface StoredInput {
  key: string
  input: TaskInput
  rule: InputRule
  path: string
}

/** Opens a file of the store. An inline image had its header read when it arrived; a link's file did not. */
const openStored = async (
  { storage }: RenderDependencies,
  { key, input, rule, path }: StoredInput,
): Promise<Size & { frames?: number }> => {
  const { width, height } = input
  try {
    if (width === null || height === null) await checkBytes(storage, key, rule)
    await storage.fetchToFile(key, path)
  } catch (error) {
    if (error instanceof StorageError && error.code === 'not_found')
      throw new TaskError(
        'download_failed',
        `${rule.pointer} names a file that is no longer there`,
        { cause: error },
      )
    throw error
  }
  return width === null || height === null ? await inspect(rule, path) : { width, height }
}

const checkBytes = async (
  storage: Storage,
  key: string,
  { pointer, limits }: InputRule,
): Promise<void> => {
  const bytes = (await storage.stat(key))?.size ?? 0
  if (bytes > limits.maxBytes)
    throw new TaskError(
      'file_too_large',
      `${pointer}: over the limit of ${limits.maxBytes.toLocaleString('en')} bytes`,
    )
}

/** Finds what a file is. An error names the member, because a request may have several. */
const inspect = async (rule: InputRule, path: string) =>
  await rule.inspect(path).catch((error: unknown) => {
    if (!(error instanceof TaskError)) throw error
    throw new TaskError(error.code, `${rule.pointer}: ${error.message}`, { cause: error })
  })

interface AddressedInput {
  task: { id: string }
  input: TaskInput
  rule: InputRule
  path: string
  attempt: RenderAttempt
}

const fetchAddress = async (
  { sql, storage, outbound }: RenderDependencies,
  { task, input, rule, path, attempt }: AddressedInput,
): Promise<Size & { frames?: number }> => {
  const { field, url: given } = input
  const url = given ?? ''
  const digest = await outbound
    .download({ url, toFile: path, ...rule.limits, signal: attempt.signal })
    .catch((error: unknown) => {
      throw error instanceof OutboundError
        ? toTaskError(error, { field: rule.pointer, url })
        : error
    })
  const { extension, ...found } = await inspect(rule, path)
  // The engine goes on with its own copy: `putFile` takes the file away.
  const kept = join(attempt.scratchDir, randomUUID())
  await copyFile(path, kept)
  // Named by its content: an attempt that was stopped and goes on later cannot replace what another attempt has kept.
  const storageKey = `inputs/${task.id}/${field}-${digest.sha256.slice(0, 16)}.${extension}`
  await storage.putFile(storageKey, kept)
  await storeFetchedInput(sql, { taskId: task.id, field, storageKey, ...digest })
  return found
}
