import { toSegment } from './argument.ts'
import type { paths } from '../generated/openapi.ts'
import { follow } from './follow.ts'
import type { FollowOptions } from './follow.ts'
import { responseOf } from './http.ts'
import type { Http } from './http.ts'
import { toTask } from './task.ts'
import type { EndedTask, RunningTask, Task, TaskDetail } from './task.ts'

/** A task, or its id. */
export type TaskRef = string | Pick<Task, 'id' | 'path'>

export interface WaitOptions extends FollowOptions {
  /** Called at once, at each transition and percentage, when what the task waits for changes, and with its end. */
  onProgress?: (progress: Pick<RunningTask, 'status' | 'progress' | 'waitsFor'>) => void
}

/** The secret, and when it ends. */
export type TaskToken =
  paths['/tasks/{task_id}/tokens']['post']['responses'][201]['content']['application/json']

export type ReadOptions = { signal?: AbortSignal | undefined }

export const makeTasks = (http: Http) => {
  /** Finds the path of a task's status. A token for one task reads it by that of tasks of any kind alone. */
  const findPath = async (task: TaskRef, { signal }: ReadOptions): Promise<string> => {
    const { id, path: known } = toRef(task)
    const anyPath = `/tasks/${toSegment(id)}`
    if (await http.isOfOneTask()) return anyPath
    if (known !== undefined) return known
    const { family, path } = (await (await http.ask(anyPath, signal)).json()) as TaskDetail
    return family === 'video' ? `${path}/creations` : path
  }

  const readAt = async (path: string, { signal }: ReadOptions): Promise<Task> =>
    toTask(await (await http.ask(path, signal)).json(), path)

  /** Reads a task as it is now. */
  const read = async (task: TaskRef, options: ReadOptions = {}): Promise<Task> =>
    await readAt(await findPath(task, options), options)

  /** Waits until a task has ended, however that is, and returns it. A service that is away for less than `patienceMs` is waited for. */
  const wait = async (task: TaskRef, options: WaitOptions = {}): Promise<EndedTask> => {
    const { id } = toRef(task)
    let { path } = toRef(task)
    let status = ''
    let progress: number | undefined
    let reported = ''
    const report = (seen: Parameters<NonNullable<WaitOptions['onProgress']>>[0]): void => {
      const known = reported
      reported = JSON.stringify(seen)
      if (known !== reported) options.onProgress?.(seen)
    }
    const ended = await follow<EndedTask>(
      http,
      {
        streamPath: `/tasks/${toSegment(id)}/stream`,
        findStatusPath: async () =>
          (path = await findPath(path === undefined ? id : { id, path }, options)),
        readEnd: ({ event, data }) => {
          if (event !== 'end' && event !== 'status') return undefined
          const read = toTask(data, path)
          return read.state === 'running' ? undefined : read
        },
        onEvent: ({ event, data }) => {
          const seen = (event === 'status' ? toTask(data, path) : toSeen(data as Seen)) as Seen
          status = seen.status ?? status
          progress = DONE.has(status) ? 100 : (seen.progress ?? progress)
          const { waitsFor } = seen
          report({
            status,
            ...(progress === undefined ? {} : { progress }),
            ...(waitsFor === undefined ? {} : { waitsFor }),
          })
        },
      },
      options,
    )
    if (ended.status !== status)
      report({ status: ended.status, ...(ended.state === 'succeeded' && { progress: 100 }) })
    return ended
  }

  /** Cancels a task, and returns it. Throws `cannot_cancel` when it has ended, or is a video that is being rendered. */
  const cancel = async (task: TaskRef, options: ReadOptions = {}): Promise<Task> => {
    const path = await findPath(task, options)
    const headers = { 'idempotency-key': crypto.randomUUID() }
    const init = { method: 'POST', headers }
    await http.ask(`${path.replace(/\/creations$/, '')}/cancel`, options.signal, init)
    return await readAt(path, options)
  }

  /**
   * Makes a token that reads this task alone, for an hour at most: for a page in a browser, of any origin. A client with it
   * as `token` waits for the task.
   */
  const makeToken = (task: TaskRef, { signal }: ReadOptions = {}): Promise<TaskToken> => {
    const params = { path: { task_id: toRef(task).id } }
    const init = { params, signal: signal ?? null }
    return responseOf(http.routes.POST('/tasks/{task_id}/tokens', init))
  }

  return { read, wait, cancel, makeToken }
}

/** Words of a task that has succeeded. */
const DONE: ReadonlySet<string> = new Set(['success', 'COMPLETED'])

type Seen = Partial<RunningTask>

/** Reads an event of a stream. */
const toSeen = ({ waits_for: waitsFor, ...seen }: Seen & { waits_for?: string }): Seen => ({
  ...seen,
  ...(waitsFor === undefined ? {} : { waitsFor }),
})

const toRef = (task: TaskRef): Pick<Task, 'id' | 'path'> =>
  typeof task === 'string' ? { id: task } : task
