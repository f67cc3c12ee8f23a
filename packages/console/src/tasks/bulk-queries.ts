import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'

import { read, readQuery } from '../api/client.ts'
import type { Data } from '../api/schema.ts'
import type { Operation } from './operation.tsx'
import { readLines } from './queries.ts'
import type { BulkLine } from './types.ts'

export type BulkKind = 'batches' | 'operations'
export type Batch = Data<'/batches/{id}'>
export type Bulk = Batch | Operation
/** One as its list has it. */
export type BulkItem = Omit<Batch, 'counts'> | Omit<Operation, 'counts'>

const POLL_MS = 2000
const LIST_POLL_MS = 5000
/** Most lines that are read again whenever one has failed: more are read again at the end alone. */
const MAX_LIVE = 1000

export const idOf = (bulk: BulkItem): string =>
  'batch_id' in bulk ? bulk.batch_id : bulk.operation_id

const readPage = async (kind: BulkKind, query: object, signal: AbortSignal) => {
  if (kind === 'operations') {
    const { operations, next } = await read('/operations', { query }, signal)
    return { items: operations as BulkItem[], next }
  }
  const { batches, next } = await read('/batches', { query }, signal)
  return { items: batches as BulkItem[], next }
}

/** The caller's, the newest first; read again only while one of them has not ended. */
export const bulksQuery = (kind: BulkKind) =>
  infiniteQueryOptions({
    queryKey: [kind, 'list'],
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) =>
      readPage(kind, { limit: 10, after: pageParam || undefined }, signal),
    getNextPageParam: ({ next }) => next,
    select: ({ pages }) => pages.flatMap(({ items }) => items),
    refetchInterval: ({ state }) =>
      state.data?.pages.some(({ items }) => items.some((item) => !item.ended_at))
        ? LIST_POLL_MS
        : false,
  })

/** One with its counts, followed until it has ended. */
export const bulkQuery = (kind: BulkKind, id: string) =>
  queryOptions({
    ...readQuery(`/${kind}/{id}`, { path: { id } }),
    refetchInterval: ({ state }) => (state.data && !state.data.ended_at ? POLL_MS : false),
  })

/** Results: a line for each of its requests or tasks. */
export const linesQuery = (kind: BulkKind, bulk: Bulk) => {
  const { total, ended_at: at, counts } = bulk
  const failed = counts.rejected + ('failed' in counts ? counts.failed : 0)
  return queryOptions({
    queryKey: [kind, idOf(bulk), 'results', at, total <= MAX_LIVE && failed],
    queryFn: () => readLines<BulkLine>(`/${kind}/${idOf(bulk)}/results`),
    placeholderData: (before) => before,
    staleTime: Infinity,
    gcTime: 0,
  })
}
