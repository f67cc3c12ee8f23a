import { queryOptions } from '@tanstack/react-query'
import type { QueryClient } from '@tanstack/react-query'

import { answerOf, api } from '../api/client.ts'
import type { Answer } from '../api/client.ts'

export type TaskItem = Answer<'/admin/tasks'>['tasks'][number]

const SHOWN = 8
const OPEN: TaskItem['state'][] = ['waiting', 'queued', 'running']

/** What runs now, newest first; of all owners for platform admins. */
export const runningQuery = (ofAll: boolean) =>
  queryOptions({
    queryKey: ['tasks', { state: OPEN, ofAll }],
    queryFn: async ({ signal }): Promise<TaskItem[]> => {
      const init = { params: { query: { state: OPEN, limit: SHOWN } }, signal }
      const page = await answerOf(ofAll ? api.GET('/admin/tasks', init) : api.GET('/tasks', init))
      return page.tasks
    },
    // Those of others have no stream.
    ...(ofAll && { refetchInterval: 5000 }),
  })

/** A task as the stream tells of it: where it stands, gone once it is over, first when it is new. */
export const putTask = (queries: QueryClient, task: TaskItem): void => {
  queries.setQueryData(runningQuery(false).queryKey, (before = []) => {
    const old = before.find(({ task_id: id }) => id === task.task_id)
    if (old !== undefined && old.rev > task.rev) return before
    const isOpen = OPEN.includes(task.state)
    const others = before.filter(({ task_id: id }) => id !== task.task_id)
    if (!isOpen) return others
    return [...others, task]
      .toSorted((a, b) => b.created_at.localeCompare(a.created_at))
      .slice(0, SHOWN)
  })
}

export const summaryQuery = queryOptions({
  queryKey: ['tasks', 'summary'],
  queryFn: ({ signal }) => answerOf(api.GET('/tasks/summary', { signal })),
})

/** What has ended last; none: the caller is new here. */
export const lastQuery = queryOptions({
  queryKey: ['tasks', 'last'],
  queryFn: async ({ signal }) => {
    const query = { state: ['done' as const, 'failed' as const], limit: 6 }
    return (await answerOf(api.GET('/tasks', { params: { query }, signal }))).tasks
  },
})

/** Versions of the caller's own nodes that are held back, of the newest hundred of all. */
export const heldBackQuery = queryOptions({
  queryKey: ['me', 'held-back'],
  queryFn: async ({ signal }) => {
    const publishers = await answerOf(api.GET('/users/publishers/', { signal }))
    if (publishers.length === 0) return []
    const nodes = await Promise.all(
      publishers.slice(0, 5).map(({ id }) =>
        answerOf(
          api.GET('/publishers/{publisherId}/nodes/v2', {
            params: { path: { publisherId: id }, query: { limit: 100 } },
            signal,
          }),
        ),
      ),
    )
    const own = new Set(nodes.flatMap((page) => page.nodes.map(({ id }) => id)))
    const { versions } = await answerOf(
      api.GET('/versions', {
        params: { query: { statuses: ['NodeVersionStatusFlagged'], pageSize: 100 } },
        signal,
      }),
    )
    return versions.filter((version) => own.has(version.node_id))
  },
})

/** Requests for a review that wait for platform admins. */
export const reviewsQuery = queryOptions({
  queryKey: ['versions', 'reviews', 'count'],
  queryFn: async ({ signal }) => {
    const query = {
      statuses: ['NodeVersionStatusFlagged' as const],
      review_requested: true,
      pageSize: 1,
    }
    return (await answerOf(api.GET('/versions', { params: { query }, signal }))).total
  },
})

/** `/ready` answers 503 with the same body when the service is not. */
export const readyQuery = queryOptions({
  queryKey: ['ready'],
  queryFn: ({ signal }) => answerOf(api.GET('/ready', { signal })),
  refetchInterval: 5000,
})
