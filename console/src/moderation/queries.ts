import { infiniteQueryOptions } from '@tanstack/react-query'

import { answerOf, api } from '../api/client.ts'
import type { Schema } from '../api/client.ts'
import type { paths } from '../../../client/index.ts'

/** A version as platform admins are told of it. */
export type Version = Schema<'NodeVersionPage'>['versions'][number]

export const VERSIONS_KEY = ['moderation', 'versions'] as const
export const BANS_KEY = ['moderation', 'bans'] as const

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

const PAGE = 50

interface Wanted {
  filter: Filter
  node: string | undefined
  reason: string | undefined
}

export const versionsQuery = ({ filter, node, reason }: Wanted) =>
  infiniteQueryOptions({
    queryKey: [...VERSIONS_KEY, filter, node, reason],
    initialPageParam: 1,
    queryFn: ({ pageParam, signal }) =>
      answerOf(
        api.GET('/versions', {
          params: {
            query: {
              page: pageParam,
              pageSize: PAGE,
              ...FILTERS[filter],
              ...(node && { nodeId: node }),
              ...(reason && { status_reason: reason }),
            },
          },
          signal,
        }),
      ),
    getNextPageParam: ({ page, totalPages }) => (page < totalPages ? page + 1 : undefined),
    maxPages: 40,
    refetchInterval: 15_000,
  })

/** `{node}@{version}`, as the address and the list name a version. */
export const keyOf = ({ node_id: nodeId, version }: Pick<Version, 'node_id' | 'version'>): string =>
  `${nodeId}@${version}`
export const readKey = (key: string): [nodeId: string, version: string] => {
  const at = key.indexOf('@')
  return [key.slice(0, at), key.slice(at + 1)]
}
