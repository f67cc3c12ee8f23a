import type { components, paths } from '../generated/openapi.ts'
import { responseOf, toInit } from './http.ts'
import type { Http } from './http.ts'
import { after, readPages } from './pages.ts'
import type { ListOf } from './pages.ts'
import type { ReadOf, TaskDetail } from './task.ts'
import type { ReadOptions } from './tasks.ts'

/** A task of either family as lists have it. */
export type TaskItem = ReadOf<'/tasks'>['tasks'][number]
/** Sums of what ended tasks have used. */
export type Usage = components['schemas']['Usage']

type UsageQuery = NonNullable<paths['/usage']['get']['parameters']['query']>

export interface DeleteOptions extends ReadOptions {
  /** `ended` deletes a task that cannot be cancelled at its end. */
  when?: 'now' | 'ended' | undefined
}

export const makeTaskList = ({ routes: { GET, DELETE } }: Http) => ({
  /** Lists the caller's tasks of all kinds, the newest first. */
  list: (
    { limit, ...filter }: ListOf<'/tasks'> = {},
    options: ReadOptions = {},
  ): AsyncGenerator<TaskItem> =>
    readPages(limit, async (asked) => {
      const init = toInit(options, { query: { ...filter, ...after(asked) } })
      const { tasks, next } = await responseOf(GET('/tasks', init))
      return { items: tasks, next }
    }),
  /** Reads a task with all of its life. */
  details: (id: string, options: ReadOptions = {}): Promise<TaskDetail> =>
    responseOf(GET('/tasks/{task_id}', toInit(options, { path: { task_id: id } }))),
  /** Counts the caller's tasks that go on, and those that have ended today. */
  summary: (options: ReadOptions = {}) => responseOf(GET('/tasks/summary', toInit(options))),
  /** Deletes a task with its inputs, results and payload. */
  delete: async (id: string, { when, ...options }: DeleteOptions = {}): Promise<void> => {
    const query = when === undefined ? {} : { when }
    await DELETE('/tasks/{task_id}', toInit(options, { path: { task_id: id }, query }))
  },
})

export const makeUsage = ({ routes: { GET } }: Http) => ({
  /** Sums what the caller's ended tasks have used: by day, unless `by` says otherwise, of the last 30 days. */
  usage: (query: UsageQuery = {}, options: ReadOptions = {}): Promise<Usage> =>
    // As CSV it comes only where that is asked for.
    responseOf(GET('/usage', toInit(options, { query }))) as Promise<Usage>,
  /** Reads the caller's credits, and the slots for videos. */
  credits: (options: ReadOptions = {}) =>
    responseOf(GET('/proxy/vidvendor/credits', toInit(options))),
})
