import { QueryClient, queryOptions, useQuery } from '@tanstack/react-query'

import { t } from '../words/translate.ts'
import { isPassing, readQuery, sendRequest } from './client.ts'
import { session } from './session.ts'
import { useStore } from './store.ts'
import { waitMs } from './wait.ts'

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

/** Returns true where the registry is read without signing in, undefined until it is known. */
export const useIsPublic = (): boolean | undefined => {
  const { data: service } = useQuery(serviceQuery)
  return service && service.registry_reads === 'public'
}

/** True where pictures of the service are asked for with a credential, which those of a page have none of. */
export const useArePrivate = (): boolean => useIsPublic() === false

/** Address of a copy of a picture, which is asked for with a credential. */
export const useCopy = (path: string): string | undefined => useQuery(pictureQuery(path)).data

const pictureQuery = (path: string) =>
  queryOptions({
    queryKey: ['picture', path],
    queryFn: async ({ signal }) => {
      const response = await sendRequest(new Request(path), { signal })
      return response.status === 200 ? await toDataUrl(await response.blob()) : ''
    },
    staleTime: 300_000,
    retry: false,
  })

/** An address with the bytes in it, which need not be revoked. */
const toDataUrl = (blob: Blob): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.addEventListener('load', () => resolve(reader.result as string))
    reader.addEventListener('error', () => reject(reader.error ?? new Error(t('not read'))))
    reader.readAsDataURL(blob)
  })

/** Credits and slots of the caller. */
export const creditsQuery = readQuery('/proxy/vidvendor/credits', {}, { refetchInterval: 60_000 })

/** Bytes of an archive of the service's own; 0 where another host has it. */
export const archiveQuery = (link: string) =>
  queryOptions({
    queryKey: ['archive', link],
    queryFn: async ({ signal }) => {
      const request = new Request(link, { method: 'HEAD', redirect: 'manual' })
      const response = await sendRequest(request, { signal })
      return response.ok ? Number(response.headers.get('content-length') ?? 0) : 0
    },
    staleTime: Infinity,
    retry: false,
  })
