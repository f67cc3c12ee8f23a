import { infiniteQueryOptions, queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'

import { AS_IT_COMES, bearerOf, responseOf, read, readQuery, writingApi } from '../api/client.ts'
import { creditsQuery } from '../api/queries.ts'
import { useStream } from '../api/stream.ts'
import { useTaskToken } from '../api/task-token.ts'
import { listDeliveries, type Delivery } from './deliveries.ts'
import { toApiFilter } from './filter.ts'
import type { TaskFilter } from './list-rows.ts'
import type { TaskDetail, TaskItem, TaskPage } from './types.ts'

/** Any creation, cancellation or dry run: their paths come from data. */
export const post = writingApi.POST as unknown as (
  path: string,
  init: { params?: object; body?: object; signal?: AbortSignal },
) => Promise<{ data?: object; response: Response }>

/** @param token of a shared task, which reads it in place of the user */
export const taskQuery = (id: string, token?: string) =>
  readQuery(
    '/tasks/{task_id}',
    { path: { task_id: id } },
    token === undefined ? {} : { headers: bearerOf(token) },
  )

/** `watchedUntil`: what was sent again shows in no state before it was tried, so it is looked for until then. */
export const eventsQuery = (
  { task_id, status }: Pick<TaskItem, 'task_id' | 'status'>,
  watchedUntil = 0,
) =>
  queryOptions({
    ...readQuery('/tasks/{task_id}/events', { path: { task_id } }),
    // Deliveries go on after a task has ended; a later one has its time, until which nothing happens.
    refetchInterval: ({ state }) => {
      const events = state.data?.events ?? []
      // The task may have been read a moment after its events.
      const isBehind = events.length > 0 && events.at(-1)?.status !== status
      if (isBehind || Date.now() < watchedUntil) return 2000
      const sent = listDeliveries(events.map((event) => ({ ...event, task_id })))
      const waiting = sent.filter((event) => event.state === 'pending' || event.next_attempt_at)
      const times = waiting.map((event) => Date.parse(event.next_attempt_at ?? '') || Date.now())
      const next = Math.min(...times)
      return waiting.length > 0 && Math.max(2000, Math.min(60_000, next - Date.now() + 500))
    },
  })

/** Query of an event's attempts, which is read again as soon as the event changes. */
export const attemptsQuery = (event: Delivery) => {
  const { id: event_id, task_id, endpoint_id } = event
  const query =
    endpoint_id === undefined
      ? readQuery('/tasks/{task_id}/events/{event_id}/attempts', { path: { task_id, event_id } })
      : readQuery('/endpoints/{endpoint_id}/events/{event_id}/attempts', {
          path: { endpoint_id, event_id },
        })
  return queryOptions({ ...query, queryKey: [...query.queryKey, event] })
}

/** Milliseconds between polls of a place in the queue. */
const PLACE_MS = 5000

/** A task, followed until it has ended, with the newest preview. Its progress never falls. */
export const useTask = (id: string | undefined) => {
  const queries = useQueryClient()
  const token = useTaskToken()
  const query = taskQuery(id ?? '', token)
  const task = useQuery({
    ...query,
    enabled: id !== undefined,
    // No event says that others before it have begun.
    refetchInterval: ({ state }) =>
      state.error === null && state.data?.queue_position !== undefined && PLACE_MS,
  })
  // With a link that has ended nothing is asked any more.
  const isOver = token !== undefined && task.error !== null
  const isFollowed = id !== undefined && task.data && !task.data.ended_at && !isOver
  useStream({
    path: isFollowed ? `/tasks/${id}/stream` : undefined,
    token,
    onEvent: ({ event, data }) => {
      const { progress = 0, waits_for, image } = data as Partial<TaskDetail> & { image?: string }
      const isFurther = event === 'progress' && waits_for === task.data?.waits_for
      // What a machine lacks, and when one took the task, is in the task alone.
      if (isFurther || event === 'preview')
        queries.setQueryData(
          query.queryKey,
          (old) =>
            old && {
              ...old,
              progress: Math.max(old.progress, progress),
              ...(image !== undefined && { preview: image }),
            },
        )
      else
        for (const { queryKey } of [query, creditsQuery])
          void queries.invalidateQueries({ queryKey })
    },
    poll: async () => void (await task.refetch()),
  })
  return task
}

export const cancelTask = ({ path }: Pick<TaskItem, 'path'>): Promise<unknown> =>
  responseOf(post(`${path}/cancel`, {}))

/** Reads a response as the text that it is. */
export const readText = async (
  path: string,
  { query, accept }: { query?: object; accept?: string } = {},
): Promise<string> => {
  const get = writingApi.GET as unknown as (
    path: string,
    init: { parseAs: 'text'; params?: object; headers?: object },
  ) => Promise<{ data?: string }>
  const { data = '' } = await get(path, {
    parseAs: 'text',
    params: { query },
    headers: accept === undefined ? {} : { accept },
  })
  return data
}

/** Reads a response of lines of JSON. */
export const readLines = async <Line>(path: string): Promise<Line[]> => {
  const data = await readText(path)
  return data.split('\n').flatMap((line) => (line === '' ? [] : (JSON.parse(line) as Line)))
}

/** Asks for tasks of the caller, or as an admin for those of others. */
export const askTasks = (
  filter: TaskFilter,
  { after, signal }: { after?: string; signal?: AbortSignal } = {},
): Promise<TaskPage> => {
  const { owner } = filter
  const whose = owner === '*' ? undefined : owner
  const query: object = {
    ...toApiFilter(filter),
    after: after || undefined,
    owner: whose,
    limit: 50,
  }
  return read(owner === undefined ? '/tasks' : '/admin/tasks', { query }, signal)
}

/** Rows are kept up to date one by one: a list that reads all its pages again would jump, and take long. */
export const tasksQuery = (filter: TaskFilter) =>
  infiniteQueryOptions({
    queryKey: ['tasks', filter],
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) => askTasks(filter, { after: pageParam, signal }),
    getNextPageParam: (last) => last.next,
    ...AS_IT_COMES,
    maxPages: 40,
    staleTime: Infinity,
  })
