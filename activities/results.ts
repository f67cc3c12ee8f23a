import { wordsFor } from '../src/domain/task/family.ts'
import { digestFile } from '../src/adapters/storage/measure.ts'
import { makeThumbnail } from '../src/adapters/thumbnail.ts'
import { findTaskState, holdsFence } from '../src/db/task/task.ts'
import type { TaskResult, Thumbnail } from '../src/db/task/task-file.ts'
import { THUMBNAIL } from '../src/domain/task/thumbnail.ts'
import { failpoint } from '../src/process/failpoint.ts'
import type { CommonDependencies } from './dependencies.ts'
import { listFetchedInputs } from '../src/db/task/task-file.ts'
import { purgeDeleted } from '../src/db/task/task-deletion.ts'
import type { TaskState } from '../src/db/task/task.ts'
import { isOutage, type StoredDigest } from '../src/adapters/storage/storage.ts'

/** A task under the fence of one attempt. */
export interface FencedTask {
  id: string
  fence: number
}

interface RenderedImage {
  name: string
  /** A path, or bytes. */
  file: string | Uint8Array
  contentType: string
  width: number
  height: number
}

/** Files that an attempt has made. */
interface RenderedFiles {
  files: readonly RenderedImage[]
  /** The one of which the thumbnail is drawn. */
  picture: string | Uint8Array
}

/**
 * Moves what an engine has made to the store, under the attempt's fence, with a thumbnail beside it. An attempt that stood
 * still and lost its fence may have stored it after the task ended and its files were cleaned up. Then it removes it and throws.
 */
export const storeResults = async (
  deps: CommonDependencies,
  task: FencedTask,
  { files, picture }: RenderedFiles,
): Promise<{ results: TaskResult[]; thumbnail?: Thumbnail }> => {
  const giveUp = (error: unknown): undefined => {
    deps.log.warn({ task_id: task.id, err: error }, 'no thumbnail was made')
  }
  // Drawn before the picture moves. It is only for show: without it the task is done all the same.
  const drawing = makeThumbnail(picture).catch(giveUp)
  // No part of an attempt runs on after its end.
  const digests = await Promise.all(files.map(({ file }) => digestFile(file))).finally(
    () => drawing,
  )
  const small = await drawing
  const folder = `results/${task.id}/${task.fence}`
  await deps.storage.putFiles(folder, {
    ...Object.fromEntries(files.map(({ name, file }) => [name, file])),
    ...(small && { [THUMBNAIL]: small }),
  })
  await commitResults(deps, task)
  const results = files.map(({ name, contentType, width, height }, index) => {
    const digest = digests[index] as StoredDigest
    return { name, storageKey: `${folder}/${name}`, contentType, ...digest, width, height }
  })
  return {
    results,
    ...(small && { thumbnail: { storageKey: `${folder}/${THUMBNAIL}`, bytes: small.length } }),
  }
}

const commitResults = async (
  { sql, storage }: CommonDependencies,
  task: FencedTask,
): Promise<void> => {
  failpoint('render.after-output')
  if (await holdsFence(sql, task)) return
  await storage.removePrefix(`results/${task.id}/${task.fence}`)
  throw new Error('the task has ended or is with a newer attempt')
}

/**
 * Removes what attempts have left beside the results of an ended task, and what they fetched, which only they read.
 * Returns the status of the task. It reads the row, because a repetition makes no transition, and the files of a
 * completed task must stay. Throws while the store is away, so that it is repeated. `known` is the content of the row
 * when the caller has just written it.
 */
export const cleanUpAttempts = async (
  { sql, storage, log }: CommonDependencies,
  taskId: string,
  known?: TaskState,
): Promise<string> => {
  const { status, fence } = known ?? (await findTaskState(sql, taskId)) ?? GONE
  const folder = `results/${taskId}`
  try {
    if (FAILED.has(status)) await storage.removePrefix(folder)
    if (COMPLETED.has(status) && fence > 1)
      for (const key of await storage.list(folder))
        if (!key.startsWith(`${folder}/${fence}/`)) await storage.removePrefix(attemptOf(key))
    if (FAILED.has(status) || COMPLETED.has(status)) {
      const { fetched, isDeleted } = await listFetchedInputs(sql, taskId)
      for (const key of fetched) await storage.remove(key)
      if (isDeleted) await purgeDeleted({ sql, storage }, taskId)
    }
  } catch (error) {
    // The transition is made and enqueued; only its repetition, once the store is back, removes what is left.
    if (isOutage(error)) throw error
    log.warn({ task_id: taskId, err: error }, 'files of older attempts were not removed')
  }
  return status
}

const FAILED = wordsFor('failed')
const COMPLETED = wordsFor('done')
const GONE = { status: 'FAILED', fence: 0 } as const

/** `results/<task>/<fence>` of a key below it. */
const attemptOf = (key: string): string => key.split('/').slice(0, 3).join('/')
