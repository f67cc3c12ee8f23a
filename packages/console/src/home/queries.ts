import { queryOptions, type QueryClient } from '@tanstack/react-query'

import { read, readQuery, type Schema } from '../api/client.ts'
import type { TaskItem } from '../tasks/types.ts'

const SHOWN = 8
const OPEN: TaskItem['state'][] = ['waiting', 'queued', 'running']

/** Tasks that run now, newest first; of all owners for platform admins. */
export const runningQuery = (ofAll: boolean) =>
  queryOptions({
    queryKey: ['tasks', { state: OPEN, ofAll }],
    queryFn: async ({ signal }): Promise<TaskItem[]> => {
      const query = { state: OPEN, limit: SHOWN }
      return (await read(ofAll ? '/admin/tasks' : '/tasks', { query }, signal)).tasks
    },
    // Those of others have no stream.
    ...(ofAll && { refetchInterval: 5000 }),
  })

/** Puts a task from the stream where it belongs: in its place, gone once it is over, first when it is new. */
export const putTask = (queries: QueryClient, task: TaskItem): void => {
  queries.setQueryData(runningQuery(false).queryKey, (before = []) => {
    const old = before.find(({ task_id: id }) => id === task.task_id)
    if (old !== undefined && old.rev > task.rev) return before
    const others = before.filter((other) => other !== old)
    if (!OPEN.includes(task.state)) return others
    return [...others, task]
      .toSorted((a, b) => b.created_at.localeCompare(a.created_at))
      .slice(0, SHOWN)
  })
}

export const summaryQuery = readQuery('/tasks/summary', {})

/** Tasks that were done last; none: the caller is new here. */
export const lastQuery = readQuery('/tasks', { query: { state: ['done'], limit: 12 } })

export const failedQuery = readQuery('/tasks', { query: { state: ['failed'], limit: 20 } })

const FLAGGED: Schema<'NodeVersionStatus'>[] = ['NodeVersionStatusFlagged']
const BLOCKED: Schema<'NodeVersionStatus'>[] = [...FLAGGED, 'NodeVersionStatusBanned']

/** Flagged and banned versions of the caller's own nodes that no later one has replaced, of the newest hundred of all. */
export const blockedQuery = queryOptions({
  queryKey: ['blocked-own'],
  queryFn: async ({ signal }) => {
    const publishers = await read('/users/publishers/', {}, signal)
    const query = { limit: 100 }
    // Nobody reads the nodes of a banned one.
    const active = publishers.filter(({ status }) => status === 'PublisherStatusActive')
    const readNodes = ({ id: publisherId }: { id: string }) =>
      read('/publishers/{publisherId}/nodes/v2', { path: { publisherId }, query }, signal)
    const pages = await Promise.all(active.slice(0, 5).map(readNodes))
    const own = new Map(
      pages.flatMap(({ nodes }) => nodes.map((node) => [node.id, node.latest_version?.createdAt])),
    )
    if (own.size === 0) return []
    const { versions } = await read(
      '/versions',
      { query: { statuses: BLOCKED, pageSize: 100 } },
      signal,
    )
    return versions.filter(
      ({ node_id: id, createdAt }) => own.has(id) && (own.get(id) ?? '') < createdAt,
    )
  },
})

/** The caller's webhook subscriptions; those that fail say since when. */
export const endpointsQuery = readQuery('/endpoints', {})

/** Requests for a review that wait for platform admins. */
export const reviewsQuery = readQuery('/versions', {
  query: { statuses: FLAGGED, review_requested: true, pageSize: 1 },
})

/** Reads each half minute what operators are to look at. */
export const operationsQuery = readQuery('/admin/operations', {}, { refetchInterval: 30_000 })
