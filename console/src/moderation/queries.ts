import { infiniteQueryOptions } from '@tanstack/react-query'

import type { Schema } from '../api/client.ts'
import { nextPage, read } from '../api/read.ts'
import type { paths } from '../../../client/index.ts'

/** A version as platform admins are told of it. */
export type Version = Schema<'NodeVersionPage'>['versions'][number]

type Query = NonNullable<paths['/versions']['get']['parameters']['query']>

/** What the list shows: what the API is asked for each. */
const FILTERS = {
  review: { sort: 'review' },
  Flagged: { statuses: ['NodeVersionStatusFlagged'] },
  failed: { statuses: ['NodeVersionStatusPending'], status_reason: 'checks could not run' },
  Pending: { statuses: ['NodeVersionStatusPending'] },
  Active: { statuses: ['NodeVersionStatusActive'] },
  Banned: { statuses: ['NodeVersionStatusBanned'] },
} satisfies Record<string, Query>
export type Filter = keyof typeof FILTERS
export const isFilter = (word: string | undefined): word is Filter =>
  word !== undefined && word in FILTERS

interface Wanted {
  filter: Filter
  node: string | undefined
  reason: string | undefined
}

export const versionsQuery = ({ filter, node, reason }: Wanted) =>
  infiniteQueryOptions({
    queryKey: ['moderation', filter, node, reason],
    initialPageParam: 1,
    queryFn: ({ pageParam: page, signal }) => {
      const more = { ...(node && { nodeId: node }), ...(reason && { status_reason: reason }) }
      return read(
        '/versions',
        { query: { page, pageSize: 50, ...FILTERS[filter], ...more } },
        signal,
      )
    },
    getNextPageParam: nextPage,
    maxPages: 40,
    refetchInterval: 15_000,
  })

/** `{node}@{version}`, as the address and the list name a version. */
export const keyOf = ({ node_id: nodeId, version }: Pick<Version, 'node_id' | 'version'>): string =>
  `${nodeId}@${version}`
