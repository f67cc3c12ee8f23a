import { stat } from 'node:fs/promises'
import { join } from 'node:path'

import { digestFile } from '../src/adapters/storage/measure.ts'
import { writeThumbnail } from '../src/adapters/thumbnail.ts'
import { holdsFence } from '../src/db/task/task.ts'
import type { TaskResult, Thumbnail } from '../src/db/task/task-file.ts'
import { THUMBNAIL } from '../src/domain/task/thumbnail.ts'
import { failpoint } from '../src/process/failpoint.ts'
import type { CommonDependencies } from './dependencies.ts'

/** A task under the fence of one attempt. */
export interface FencedTask {
  id: string
  fence: number
}

interface RenderedFile {
  name: string
  path: string
  contentType: string
  width: number
  height: number
}

/** What an attempt has made. */
interface Made {
  files: readonly RenderedFile[]
  /** Path of the one of which the thumbnail is drawn. */
  picture: string
  scratchDir: string
}

/**
 * Moves what an engine has made to the store, under the attempt's fence, with a thumbnail beside it. An attempt that stood
 * still and lost its fence may have stored it after the task ended and its files were swept. Then it removes it and throws.
 */
export const storeResults = async (
  deps: CommonDependencies,
  task: FencedTask,
  { files, picture, scratchDir }: Made,
): Promise<{ results: TaskResult[]; thumbnail?: Thumbnail }> => {
  const small = join(scratchDir, THUMBNAIL)
  const giveUp = (error: unknown): undefined => {
    deps.log.warn({ task_id: task.id, err: error }, 'no thumbnail was made')
  }
  // Drawn before the picture moves. It is only for show: without it the task is done all the same.
  const drawn = await writeThumbnail(picture, small).then(() => small, giveUp)
  const storing = drawn === undefined ? undefined : storeThumbnail(deps, task, drawn).catch(giveUp)
  // Both wait for the disk at the same time, and no part of an attempt runs on after its end.
  const results = await storeFiles(deps, task, files).finally(() => storing)
  const thumbnail = await storing
  await settleResults(deps, task)
  return { results, ...(thumbnail && { thumbnail }) }
}

const storeFiles = async (
  deps: CommonDependencies,
  task: FencedTask,
  files: readonly RenderedFile[],
): Promise<TaskResult[]> => {
  const results: TaskResult[] = []
  for (const file of files) results.push(await storeFile(deps, task, file))
  return results
}

const storeFile = async (
  { storage }: CommonDependencies,
  task: FencedTask,
  { name, path, contentType, width, height }: RenderedFile,
): Promise<TaskResult> => {
  const storageKey = keyOf(task, name)
  const digest = await digestFile(path)
  await storage.putFile(storageKey, path)
  return { name, storageKey, contentType, ...digest, width, height }
}

const keyOf = ({ id, fence }: FencedTask, name: string): string => `results/${id}/${fence}/${name}`

const storeThumbnail = async (
  { storage }: CommonDependencies,
  task: FencedTask,
  path: string,
): Promise<Thumbnail> => {
  const storageKey = keyOf(task, THUMBNAIL)
  const { size: bytes } = await stat(path)
  await storage.putFile(storageKey, path)
  return { storageKey, bytes }
}

const settleResults = async (
  { sql, storage }: CommonDependencies,
  task: FencedTask,
): Promise<void> => {
  failpoint('render.after-output')
  if (await holdsFence(sql, task)) return
  await storage.removePrefix(`results/${task.id}/${task.fence}`)
  throw new Error('the task has ended or is with a newer attempt')
}
