import { setTimeout as sleep } from 'node:timers/promises'

import { digestFile } from '../../src/platform/storage/measure.ts'
import type { StoredDigest } from '../../src/platform/storage/storage.ts'
import { makeThumbnail } from '../../src/engines/adapters/thumbnail.ts'
import { isUnavailable } from '../../src/platform/db/sqlstate.ts'
import { endTask } from '../../src/tasks/db/end-task.ts'
import { insertTaskResults, type TaskResult, type Thumbnail } from '../../src/tasks/db/task-file.ts'
import { findTaskState } from '../../src/tasks/db/task.ts'
import { unitOfWork } from '../../src/platform/db/unit-of-work.ts'
import { insertCreation, type NewCreation } from '../../src/tasks/db/video/creation.ts'
import type { TaskFamily } from '../../src/platform/domain/task-scope.ts'
import { THUMBNAIL } from '../../src/tasks/domain/thumbnail.ts'
import { failpoint } from '../../src/platform/process/failpoint.ts'
import type { CommonDependencies } from '../platform/dependencies.ts'
import type { EndDependencies } from '../tasks/dependencies.ts'
import { cleanUpAttempts, type TaskStanding } from '../tasks/task.ts'

/** A task under the fence of one attempt. */
export interface FencedTask {
  id: string
  fence: number
}

interface RenderedFile {
  name: string
  /** A path, or bytes. */
  file: string | Uint8Array
  contentType: string
  /** Absent of what cannot be seen. */
  width?: number | undefined
  height?: number | undefined
}

/** Files that an attempt has made. */
export interface Rendered {
  files: readonly RenderedFile[]
  /** Picture that the thumbnail is drawn from; absent where nothing can be seen. */
  picture?: string | Uint8Array | undefined
  /** The videos that were made, absent of images. */
  creations?: readonly NewCreation[]
}

/**
 * Stores what an attempt has made and ends its task with it. Throws where another attempt holds the fence or the task has
 * ended meanwhile: then nothing of it is left. While PostgreSQL is away the end waits for it, as what was made is in the
 * store already.
 */
export const finishTask = async (
  deps: EndDependencies,
  { family, task, signal }: { family: TaskFamily; task: FencedTask; signal: AbortSignal },
  rendered: Rendered,
): Promise<TaskStanding> => {
  const stored = await storeResults(deps, task, rendered)
  failpoint('render.after-output')
  const isDone = await untilWritten(signal, () =>
    complete(deps, { family, task }, { ...rendered, ...stored }),
  )
  if (!isDone) {
    await deps.storage.removePrefix(folderOf(task))
    throw new Error('the task has ended or is with a newer attempt')
  }
  return await cleanUpAttempts(deps, task.id, { state: 'done', reason: null, fence: task.fence })
}

const RETRY_MS = 1000

const untilWritten = async (
  signal: AbortSignal,
  write: () => Promise<boolean>,
): Promise<boolean> => {
  for (;;)
    try {
      return await write()
    } catch (error) {
      if (!isUnavailable(error)) throw error
      await sleep(RETRY_MS, undefined, { signal })
    }
}

const folderOf = ({ id, fence }: FencedTask): string => `results/${id}/${fence}`

interface Stored {
  results: TaskResult[]
  thumbnail?: Thumbnail
}

/** Moves what an engine has made to the store, under the attempt's fence, with a thumbnail beside it. */
const storeResults = async (
  deps: CommonDependencies,
  task: FencedTask,
  { files, picture }: Rendered,
): Promise<Stored> => {
  const giveUp = (error: unknown): undefined => {
    deps.log.warn({ task_id: task.id, err: error }, 'no thumbnail was made')
  }
  // Drawn before the picture moves. It is only for show: without it the task is done all the same.
  const drawing = picture === undefined ? undefined : makeThumbnail(picture).catch(giveUp)
  // No part of an attempt runs on after its end.
  const digests = await Promise.all(files.map(({ file }) => digestFile(file))).finally(
    () => drawing,
  )
  const small = await drawing
  const folder = folderOf(task)
  await deps.storage.putFiles(folder, {
    ...Object.fromEntries(files.map(({ name, file }) => [name, file])),
    ...(small && { [THUMBNAIL]: small }),
  })
  const results = files.map(({ name, contentType, width = null, height = null }, index) => {
    const digest = digests[index] as StoredDigest
    return { name, storageKey: `${folder}/${name}`, contentType, ...digest, width, height }
  })
  return {
    results,
    ...(small && { thumbnail: { storageKey: `${folder}/${THUMBNAIL}`, bytes: small.length } }),
  }
}

/** Ends a task with its results, under the fence of its attempt; true also when an earlier try has done so. */
const complete = async (
  deps: EndDependencies,
  { family, task: { id, fence } }: { family: TaskFamily; task: FencedTask },
  { creations = [], ...stored }: Stored & Pick<Rendered, 'creations'>,
): Promise<boolean> => {
  const isDone = async (): Promise<boolean> => {
    const found = await findTaskState(deps.sql, id)
    return found?.state === 'done' && found.fence === fence
  }
  const isEnded = await unitOfWork(
    deps,
    (sql, enqueue) => {
      const record = async (): Promise<void> => {
        await Promise.all([
          insertTaskResults(sql, id, stored),
          ...creations.map((creation) => insertCreation(sql, id, creation)),
        ])
      }
      return endTask(sql, { id, family, to: 'done', fence, record }, { ...deps, enqueue })
    },
    { at: 'move', of: id, wasCommitted: isDone },
  )
  return isEnded || (await isDone())
}
