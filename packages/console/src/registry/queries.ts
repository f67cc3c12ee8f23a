import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'

import { pause } from '../../../client/src/lib/pause.ts'
import { AS_IT_COMES, keyOf, read, readQuery, type Data, type Schema } from '../api/client.ts'
import type { Sort } from './sorts.ts'

export type Node = Schema<'Node'>
export type Version = Schema<'NodeVersion'>
/** A page of what a search has found. */
export type Found = Data<'/nodes/search'>

/** Filter of the search, as its address has it. */
export interface Filter {
  q?: string
  in?: keyof typeof FIELDS
  os?: string[]
  accelerator?: string[]
  license?: string[]
  tag?: string[]
  sort?: Sort
}

const FIELDS = {
  names: 'search',
  'host-nodes': 'host_node_search',
  repository: 'repository_url_search',
} as const

const paramsOf = ({ q, in: where = 'names', os, accelerator, license, tag, sort }: Filter) => ({
  [FIELDS[where]]: q?.slice(0, 200),
  supported_os: os,
  supported_accelerator: accelerator,
  license,
  tag,
  sort: sort || undefined,
})

/** More than are seen, so that the next page is asked for by who scrolls. */
const ROWS = 24

/** @param depth the most entries that pages may lead to */
export const searchQuery = (filter: Filter, depth: number) =>
  infiniteQueryOptions({
    queryKey: ['search', filter],
    initialPageParam: 1,
    queryFn: async ({ signal, pageParam: page }) => {
      const query = { page, limit: ROWS, ...paramsOf(filter) }
      const found = await read('/nodes/search', { query }, signal)
      // Rows of the filter before stay until there are others: these say whose they are.
      return { ...found, filter: JSON.stringify(filter) }
    },
    getNextPageParam: ({ page, total }) =>
      page * ROWS < total && (page + 1) * ROWS <= depth ? page + 1 : undefined,
    maxPages: 40,
    ...AS_IT_COMES,
    placeholderData: keepPreviousData,
    // All pages are read again, one after the other.
    staleTime: 60_000,
    refetchOnWindowFocus: false,
  })

/** Milliseconds without a key, after which nobody types. */
const TYPED_MS = 300

/** Packs that are read for a short list; some have no version yet. */
export const READ = 6
const POPULAR = { sort: 'downloads;desc', limit: READ } as const

/**
 * Counts of nodes by each word of a filter; fetched behind the rows, which need not wait for them, once nobody types. Those of
 * all nodes come with the most popular ones, which are seen beside them.
 */
export const facetsQuery = (filter: Filter) => {
  const isAsked = Object.values(filter).some((value) => value !== undefined)
  return queryOptions({
    queryKey: ['search', filter, 'facets'],
    queryFn: async ({ signal }) => {
      if (filter.q !== undefined) await pause(TYPED_MS, signal)
      const rows = isAsked ? { limit: 1 } : POPULAR
      const query = { facets: true, ...paramsOf(filter), ...rows }
      return await read('/nodes/search', { query }, signal)
    },
    staleTime: 60_000,
    placeholderData: keepPreviousData,
  })
}

export const nodeQuery = (nodeId: string) => readQuery('/nodes/{nodeId}', { path: { nodeId } })

/** Newest first. */
export const versionsQuery = (nodeId: string) =>
  readQuery('/nodes/{nodeId}/versions', { path: { nodeId } })

const VERSION = '/nodes/{nodeId}/versions/{version}'
const HOST_NODES = `${VERSION}/host-nodes` as const
const MINUTE = { staleTime: 60_000 }

export const versionQuery = (nodeId: string, version: string) =>
  readQuery(VERSION, { path: { nodeId, version } })

/** Path of the stream of a version's transitions, for `useStream`. */
export const streamPathOf = (nodeId: string, version: string): string =>
  `/nodes/${encodeURIComponent(nodeId)}/versions/${encodeURIComponent(version)}/stream`

/** Cards that are drawn at once. */
const CARDS = 12

export const hostNodesQuery = ({ node_id: nodeId, version, status }: Version, search?: string) => {
  const path = { nodeId, version }
  return infiniteQueryOptions({
    queryKey: keyOf(HOST_NODES, { path, query: { search } }),
    initialPageParam: 1,
    queryFn: ({ signal, pageParam: page }) =>
      read(HOST_NODES, { path, query: { page, limit: CARDS, search } }, signal),
    getNextPageParam: ({ page, totalNumberOfPages }) =>
      page < totalNumberOfPages ? page + 1 : undefined,
    placeholderData: keepPreviousData,
    staleTime: status === 'NodeVersionStatusActive' ? Infinity : 5000,
  })
}

export const hostNodeQuery = (nodeId: string, version: string, hostNodeName: string) =>
  readQuery(`${HOST_NODES}/{hostNodeName}`, { path: { nodeId, version, hostNodeName } }, MINUTE)

export const examplesQuery = (nodeId: string, version: string, hostNode?: string) =>
  readQuery(
    `${VERSION}/example-workflows`,
    { path: { nodeId, version }, query: { host_node: hostNode } },
    MINUTE,
  )

export const filesQuery = (nodeId: string, version: string) =>
  readQuery(`${VERSION}/files`, { path: { nodeId, version } }, MINUTE)

export type Range = { from: string; to: string }

export const compareQuery = (nodeId: string, { from, to }: Range) =>
  readQuery('/nodes/{nodeId}/compare', { path: { nodeId }, query: { from, to } }, MINUTE)

/** The service's own copies of the icon and the banner. */
export const iconOf = ({ id, icon }: Node): string | undefined =>
  ownCopy(`/nodes/${encodeURIComponent(id)}/icon`, icon)
export const bannerOf = ({ id, banner_url: banner }: Node): string | undefined =>
  ownCopy(`/nodes/${encodeURIComponent(id)}/banner`, banner)
export const logoOf = ({ id, logo }: { id: string; logo?: string }): string | undefined =>
  ownCopy(`/publishers/${encodeURIComponent(id)}/logo`, logo)

/**
 * A picture that was sent has another address with each, so that none is shown from a cache that was replaced; one that is
 * missing is no error of the page.
 */
const ownCopy = (path: string, address: string | undefined): string | undefined => {
  const [, version] = /\?(v=[\w-]+)$/.exec(address ?? '') ?? []
  return address && `${path}?${version ? `${version}&` : ''}missing=204`
}
