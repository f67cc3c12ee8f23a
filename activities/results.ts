import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'

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

/** Moves a file that an engine has made to the store, under the attempt's fence. */
export const storeResult = async (
  { storage }: CommonDependencies,
  task: FencedTask,
  { name, path, contentType, width, height }: RenderedFile,
): Promise<TaskResult> => {
  const storageKey = `results/${task.id}/${task.fence}/${name}`
  const { size } = await stat(path)
  const digest = createHash('sha256')
  await pipeline(createReadStream(path), digest)
  await storage.putFile(storageKey, path)
  return { name, storageKey, contentType, bytes: size, sha256: digest.digest('hex'), width, height }
}

/**
 * Draws a small copy of a picture and begins to store it beside the results: call it before the picture moves to the
 * store, and await `stored` before the results are settled. It is only for show: without it the task is done all the same.
 */
export const drawThumbnail = async (
  { storage, log }: CommonDependencies,
  task: FencedTask,
  { path, scratchDir }: { path: string; scratchDir: string },
): Promise<{ stored: Promise<{ thumbnail?: Thumbnail }> }> => {
  const made = join(scratchDir, THUMBNAIL)
  const storageKey = `results/${task.id}/${task.fence}/${THUMBNAIL}`
  const store = async (): Promise<{ thumbnail: Thumbnail }> => {
    const { size: bytes } = await stat(made)
    await storage.putFile(storageKey, made)
    return { thumbnail: { storageKey, bytes } }
  }
  const giveUp = (error: unknown) => {
    log.warn({ task_id: task.id, err: error }, 'no thumbnail was made')
    return {}
  }
  const fault = await writeThumbnail(path, made).then(() => undefined, giveUp)
  return { stored: fault ? Promise.resolve(fault) : store().catch(giveUp) }
}

/**
 * Call it once all results of an attempt are stored. An attempt that stood still and lost its fence may have stored
 * them after the task ended and its files were swept. Then it removes them and throws.
 */
export const settleResults = async (
  { sql, storage }: CommonDependencies,
  task: FencedTask,
): Promise<void> => {
  failpoint('render.after-output')
  if (await holdsFence(sql, task)) return
  await storage.removePrefix(`results/${task.id}/${task.fence}`)
  throw new Error('the task has ended or is with a newer attempt')
}
