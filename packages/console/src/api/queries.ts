import { QueryClient, queryOptions, useQuery } from '@tanstack/react-query'

import { isPassing, readQuery, waitMs } from './client.ts'
import { session } from './session.ts'
import { useStore } from './store.ts'

/** A query waits for the service; the client repeats a write. */
export const makeQueryClient = (): QueryClient =>
  new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 5000,
        retry: (_failures, error) => isPassing(error),
        retryDelay: waitMs,
        networkMode: 'always',
      },
      mutations: { networkMode: 'always' },
    },
  })

const EACH_MINUTE = { staleTime: 60_000, refetchInterval: 60_000 }

/** Facts about the service that the page must know. */
export const serviceQuery = readQuery('/service', {}, EACH_MINUTE)

const meQuery = readQuery('/users', {}, { staleTime: 300_000 })

/** The caller, once signed in and read. */
export const useMe = () => {
  const { user } = useStore(session)
  return useQuery({ ...meQuery, enabled: user !== undefined }).data
}

/** Credits and slots of the caller. */
export const creditsQuery = readQuery('/proxy/vidvendor/credits', {}, { refetchInterval: 60_000 })

/** Bytes of an archive of the service's own; 0 where another host has it. */
export const archiveQuery = (link: string) =>
  queryOptions({
    queryKey: ['archive', link],
    queryFn: async ({ signal }) => {
      const response = await fetch(link, { method: 'HEAD', redirect: 'manual', signal })
      return response.ok ? Number(response.headers.get('content-length') ?? 0) : 0
    },
    staleTime: Infinity,
    retry: false,
  })
