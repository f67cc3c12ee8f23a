import { infiniteQueryOptions } from '@tanstack/react-query'

import { read } from '../api/read.ts'
import { timeOf } from './list-rows.ts'
import type { TaskFilter } from './list-rows.ts'
import type { TaskPage } from './types.ts'

/** Asks for tasks of the caller, or as an admin for those of others. */
export const askTasks = (
  { owner, from, to, ...filter }: TaskFilter,
  { after, signal }: { after?: string; signal?: AbortSignal } = {},
): Promise<TaskPage> => {
  const times = { from: timeOf(from, 0), to: timeOf(to, 1) }
  const whose = owner === '*' ? undefined : owner
  // A list is one text with commas, as the address has it.
  const query: object = { ...filter, ...times, after: after || undefined, owner: whose, limit: 50 }
  return read(owner === undefined ? '/tasks' : '/admin/tasks', { query }, signal)
}

/** Rows are kept up to date one by one: a list that reads all its pages anew would jump, and take long. */
export const tasksQuery = (filter: TaskFilter) =>
  infiniteQueryOptions({
    queryKey: ['tasks', filter],
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) => askTasks(filter, { after: pageParam, signal }),
    getNextPageParam: (last) => last.next,
    maxPages: 40,
    staleTime: Infinity,
  })
