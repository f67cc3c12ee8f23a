import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'

import { answerOf, api } from '../api/client.ts'
import { creditsQuery } from '../api/queries.ts'
import { readQuery } from '../api/read.ts'
import { useStream } from '../api/stream.ts'
import type { TaskDetail, TaskItem } from './types.ts'

/** Any creation, cancellation or dry run: their paths come from data. */
export const post = api.POST as unknown as (
  path: string,
  init: { params?: object; body?: object; headers?: object; signal?: AbortSignal },
) => Promise<{ data?: object; response: Response }>

export const taskKey = (id: string): readonly string[] => ['task', id.toLowerCase()]

export const taskQuery = (id: string) =>
  readQuery(taskKey(id), '/tasks/{task_id}', { path: { task_id: id } })

export const eventsQuery = (id: string) =>
  queryOptions({
    ...readQuery([...taskKey(id), 'events'], '/tasks/{task_id}/events', { path: { task_id: id } }),
    // Deliveries go on after a task has ended; a later one has its time, until which nothing happens.
    refetchInterval: ({ state }) => {
      const waiting = state.data?.events.filter((event) => event.state === 'pending') ?? []
      const next = Math.min(
        ...waiting.map((event) => Date.parse(event.next_attempt_at ?? '') || Date.now()),
      )
      return waiting.length > 0 && Math.max(2000, Math.min(60_000, next - Date.now() + 500))
    },
  })

export const attemptsQuery = (id: string, eventId: string) =>
  readQuery(['event', eventId, 'attempts'], '/tasks/{task_id}/events/{event_id}/attempts', {
    path: { task_id: id, event_id: eventId },
  })

/** A task, followed until it has ended. Its progress never falls. */
export const useTask = (id: string | undefined) => {
  const queries = useQueryClient()
  const task = useQuery({ ...taskQuery(id ?? ''), enabled: id !== undefined })
  const isFollowed = id !== undefined && task.data && !task.data.ended_at
  useStream({
    path: isFollowed ? `/tasks/${id}/stream` : undefined,
    onEvent: ({ event, data }) => {
      if (id === undefined) return
      if (event !== 'progress') {
        for (const queryKey of [taskKey(id), creditsQuery.queryKey])
          void queries.invalidateQueries({ queryKey })
        return
      }
      const { progress } = data as { progress: number }
      queries.setQueryData<TaskDetail>(
        taskKey(id),
        (old) => old && { ...old, progress: Math.max(old.progress, progress) },
      )
    },
    poll: async () => {
      await task.refetch()
      return 5
    },
  })
  return task
}

export const cancelTask = (
  { path }: Pick<TaskItem, 'path'>,
  headers: { 'idempotency-key': string },
): Promise<unknown> => answerOf(post(`${path}/cancel`, { headers }))
