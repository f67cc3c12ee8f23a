import { QueryClient, useQuery } from '@tanstack/react-query'

import { isPassing, readQuery } from './client.ts'
import { session } from './session.ts'
import { useStore } from './store.ts'

/** Milliseconds before the next try of what passes: 1, 2, 4, 8, then 15 s, or what the service asks for. */
const waitMs = (failures: number, error: unknown): number => {
  const asked = isPassing(error) ? (error.retryAfterSeconds ?? 0) * 1000 : 0
  return Math.max(asked, Math.min(15_000, 1000 * 2 ** failures))
}

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

/** What the page must know of the service. */
export const serviceQuery = readQuery(
  '/service',
  {},
  { staleTime: 60_000, refetchInterval: 60_000 },
)

const meQuery = readQuery('/users', {}, { staleTime: 300_000 })

/** The caller, once signed in and read. */
export const useMe = () => {
  const { user } = useStore(session)
  return useQuery({ ...meQuery, enabled: user !== undefined }).data
}

/** Credits and slots of the caller. */
export const creditsQuery = readQuery('/proxy/vidvendor/credits', {}, { refetchInterval: 60_000 })
