import { queryOptions, type QueryKey } from '@tanstack/react-query'
import type { RequestBodyOption } from 'openapi-fetch'

import type { paths } from '../../../client/src/generated/openapi.ts'
import { makeHttp, responseOf } from '../../../client/src/lib/http.ts'
import type { RetryOptions } from '../../../client/src/lib/retry.ts'
import { isPassing, KilnError } from '../../../client/src/lib/errors.ts'
import { chosenLanguage } from '../words/language.ts'
import { recordReached } from './health.ts'
import type { Data, Operation, Schema } from './schema.ts'
import { sendAsUser } from './session.ts'

export { responseOf, isPassing, KilnError }
export type { Data, Schema }

/** Headers of a request by a token in place of whoever is signed in. */
export const bearerOf = (token: string | undefined): Record<string, string> =>
  token === undefined ? {} : { authorization: `Bearer ${token}` }

/** Sends as whoever is signed in, and records whether the service responds. */
export const sendRequest = async (request: Request, init?: RequestInit): Promise<Response> => {
  const { headers } = request
  if (chosenLanguage && !headers.has('accept-language'))
    headers.set('accept-language', chosenLanguage)
  try {
    const response = await sendAsUser(request, init)
    recordReached(response.status < 500)
    return response
  } catch (error) {
    if (!(init?.signal ?? request.signal).aborted) recordReached(false)
    throw error
  }
}

const makeApi = (retry: RetryOptions) =>
  makeHttp({
    baseUrl: location.origin,
    fetch: (input, init) => sendRequest(input as Request, init),
    retry,
  }).routes

/**
 * Every route of the service, typed by its document. A rejection is thrown as a KilnError; queries repeat one that passes, so
 * the client does not.
 */
export const api = makeApi({ attempts: 1 })

/** The same for writes, whose repeats have one Idempotency-Key. One gives up after a minute, and says so. */
export const writingApi = makeApi({ attempts: 7, baseMs: 1000 })

/** Five minutes, in which a service that is away is asked again: a killed api is back in seconds. */
export const PATIENT = { attempts: 24, baseMs: 1000 }

/** The same for what is worth the wait. */
export const patientApi = makeApi(PATIENT)

type Params<Path extends keyof paths> = paths[Path] extends { get: { parameters: infer Given } }
  ? Omit<Given, 'header' | 'cookie'>
  : never

type Call = (path: string, init: object) => Promise<{ data?: unknown; response: Response }>

/** A GET: `read('/nodes/{nodeId}', { path: { nodeId } }, signal)`. */
export const read = <Path extends keyof paths>(
  path: Path,
  params: Params<Path>,
  signal?: AbortSignal,
  headers?: Record<string, string>,
): Promise<Data<Path>> =>
  responseOf((api.GET as unknown as Call)(path, { params, signal, headers })) as Promise<Data<Path>>

/** Ids that are the same in any case. */
const ANY_CASE = new Set(['nodeId', 'publisherId', 'task_id'])

/**
 * The key of a GET: its path with the ids in their places, then its query. Keys of what lies below begin with it:
 * `['nodes', 'light-tools', 'versions', '1.0.0', 'findings']`.
 */
export const keyOf = (
  path: string,
  { path: ids = {}, query }: { path?: Readonly<Record<string, string>>; query?: unknown } = {},
): QueryKey => {
  const words = path.slice(1).split('/')
  const filled = words.map((word) => {
    const name = word.slice(1, -1)
    const id = ids[name] ?? word
    return ANY_CASE.has(name) ? id.toLowerCase() : id
  })
  return query === undefined ? filled : [...filled, query]
}

interface ReadOptions {
  staleTime?: number
  gcTime?: number
  refetchInterval?: number
  /** Such as a credential that is not the user's. */
  headers?: Record<string, string> | undefined
}

/** A query of a GET: `readQuery('/nodes/{nodeId}', { path: { nodeId } }, { staleTime: 60_000 })`. */
export const readQuery = <Path extends keyof paths>(
  path: Path,
  params: Params<Path>,
  { headers, ...options }: ReadOptions = {},
) =>
  queryOptions({
    queryKey: [...keyOf(path, params), ...(headers ? [headers] : [])],
    queryFn: ({ signal }) => read(path, params, signal, headers),
    ...options,
  })

interface Numbered {
  page: number
  totalPages: number
}

/** Options of an infinite query of numbered pages. It keeps a few: a table of thousands of rows takes long to lay out. */
export const NUMBERED = {
  initialPageParam: 1,
  getNextPageParam: ({ page, totalPages }: Numbered) => (page < totalPages ? page + 1 : undefined),
  getPreviousPageParam: ({ page }: Numbered) => (page > 1 ? page - 1 : undefined),
  maxPages: 8,
}

/**
 * Option of an infinite query that is walked far. Once it drops its first page, sharing by place would compare each row with
 * another one and copy it, so that all were rendered again; pages that stay are the same objects as they are.
 */
export const AS_IT_COMES = { structuralSharing: false } as const

type Method = 'POST' | 'PUT' | 'DELETE'

type Sent<Given> = RequestBodyOption<Given> &
  (Given extends { parameters: { path: infer Path } } ? { path: Path } : unknown)

/** A write: `send('PUT', '/publishers/{publisherId}', { path: { publisherId }, body })`. */
export const send = async <Of extends Method, Path extends keyof paths>(
  method: Of,
  route: Path,
  {
    path,
    query,
    body,
  }: { path?: object; query?: object; body?: unknown } & Sent<Operation<Path, Lowercase<Of>>>,
): Promise<Data<Path, Lowercase<Of>>> => {
  const params = { path, query }
  const { data } = await (writingApi[method] as unknown as Call)(route, { params, body })
  return data as Data<Path, Lowercase<Of>>
}

/** A write whose body is a file as it is: `sendFile('/publishers/{publisherId}/logo', { publisherId }, file)`. */
export const sendFile = async <Path extends keyof paths>(
  route: Path,
  path: object,
  file: File,
): Promise<Data<Path, 'put'>> => {
  const { data } = await (writingApi.PUT as unknown as Call)(route, {
    params: { path },
    body: file,
    bodySerializer: (body: File) => body,
    headers: { 'content-type': file.type },
  })
  return data as Data<Path, 'put'>
}
