import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'

import { answerOf, api } from '../api/client.ts'
import type { Schema } from '../api/client.ts'

export type Node = Schema<'Node'>
export type Version = Schema<'NodeVersion'>

/** What the address of the search says. */
export interface Filter {
  q?: string
  in?: 'names' | 'host-nodes' | 'repository'
  os?: string[]
  accelerator?: string[]
  tag?: string[]
  sort?: string
}

export const SORTS = {
  '': 'Relevance',
  name: 'Name',
  'downloads;desc': 'Most downloads',
  'created_at;desc': 'Newest',
} as const
export type Sort = keyof typeof SORTS

const LIMIT = 50

const paramsOf = ({ q, in: where, os, accelerator, tag, sort }: Filter) => ({
  ...(q !== undefined && { [FIELDS[where ?? 'names']]: q.slice(0, 200) }),
  ...(os && { supported_os: os }),
  ...(accelerator && { supported_accelerator: accelerator }),
  ...(tag && { tag }),
  ...(sort !== undefined && sort !== '' && sort in SORTS && { sort: sort as 'name' }),
})

const FIELDS = {
  names: 'search',
  'host-nodes': 'host_node_search',
  repository: 'repository_url_search',
} as const

/** @param depth the most entries that pages may lead to */
export const searchQuery = (filter: Filter, depth: number) =>
  infiniteQueryOptions({
    queryKey: ['search', filter],
    initialPageParam: 1,
    queryFn: async ({ signal, pageParam: page }) => {
      const query = { page, limit: LIMIT, ...paramsOf(filter) }
      const found = await answerOf(api.GET('/nodes/search', { params: { query }, signal }))
      // Rows of the filter before stay until there are others: these say whose they are.
      return { ...found, filter: JSON.stringify(filter) }
    },
    getNextPageParam: ({ page, total }) =>
      page * LIMIT < total && (page + 1) * LIMIT <= depth ? page + 1 : undefined,
    maxPages: 40,
    placeholderData: keepPreviousData,
    // All pages are read anew, one after the other.
    staleTime: 60_000,
    refetchOnWindowFocus: false,
  })

/** How many there are of each word of a filter; asked for behind the rows, which need not wait for it. */
export const facetsQuery = (filter: Filter) =>
  queryOptions({
    queryKey: ['search', filter, 'facets'],
    queryFn: async ({ signal }) => {
      const query = { limit: 1, facets: true, ...paramsOf(filter) }
      return (await answerOf(api.GET('/nodes/search', { params: { query }, signal }))).facets ?? {}
    },
    staleTime: 60_000,
    placeholderData: keepPreviousData,
  })

const lower = (id: string): string => id.toLowerCase()

export const nodeQuery = (nodeId: string) =>
  queryOptions({
    queryKey: ['node', lower(nodeId)],
    queryFn: ({ signal }) =>
      answerOf(api.GET('/nodes/{nodeId}', { params: { path: { nodeId } }, signal })),
  })

/** Newest first. */
export const versionsQuery = (nodeId: string) =>
  queryOptions({
    queryKey: ['node', lower(nodeId), 'versions'],
    queryFn: ({ signal }) =>
      answerOf(api.GET('/nodes/{nodeId}/versions', { params: { path: { nodeId } }, signal })),
  })

const VERSION = '/nodes/{nodeId}/versions/{version}'

export const versionQuery = (nodeId: string, version: string) =>
  queryOptions({
    queryKey: ['version', lower(nodeId), version],
    queryFn: ({ signal }) =>
      answerOf(api.GET(VERSION, { params: { path: { nodeId, version } }, signal })),
  })

/** Cards that are drawn at once. */
const CARDS = 24

/** @param isSettled whether they can change no more */
export const hostNodesQuery = (
  { nodeId, version, search }: { nodeId: string; version: string; search: string | undefined },
  isSettled: boolean,
) =>
  infiniteQueryOptions({
    queryKey: ['version', lower(nodeId), version, 'host-nodes', search ?? ''],
    initialPageParam: 1,
    queryFn: ({ signal, pageParam: page }) =>
      answerOf(
        api.GET(`${VERSION}/host-nodes`, {
          params: {
            path: { nodeId, version },
            query: { page, limit: CARDS, ...(search !== undefined && { search }) },
          },
          signal,
        }),
      ),
    getNextPageParam: ({ page, totalNumberOfPages }) =>
      page < totalNumberOfPages ? page + 1 : undefined,
    placeholderData: keepPreviousData,
    staleTime: isSettled ? Infinity : 5000,
  })

export const hostNodeQuery = (nodeId: string, version: string, hostNodeName: string) =>
  queryOptions({
    queryKey: ['version', lower(nodeId), version, 'host-node', hostNodeName],
    queryFn: ({ signal }) =>
      answerOf(
        api.GET(`${VERSION}/host-nodes/{hostNodeName}`, {
          params: { path: { nodeId, version, hostNodeName } },
          signal,
        }),
      ),
    staleTime: 60_000,
  })

export interface Range {
  from: string
  to: string
}

export const compareQuery = (nodeId: string, { from, to }: Range) =>
  queryOptions({
    queryKey: ['compare', lower(nodeId), from, to],
    queryFn: ({ signal }) =>
      answerOf(
        api.GET('/nodes/{nodeId}/compare', {
          params: { path: { nodeId }, query: { from, to } },
          signal,
        }),
      ),
    staleTime: 60_000,
  })

export const filesQuery = (nodeId: string, version: string) =>
  queryOptions({
    queryKey: ['version', lower(nodeId), version, 'files'],
    queryFn: async ({ signal }) =>
      (await answerOf(
        api.GET(
          `${VERSION}/files` as never,
          { params: { path: { nodeId, version } }, signal } as never,
        ),
      )) as { files: { path: string; bytes: number }[] },
    staleTime: 60_000,
  })
