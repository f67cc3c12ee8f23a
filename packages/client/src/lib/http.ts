import createClient from 'openapi-fetch'
import type { Client } from 'openapi-fetch'

import type { paths } from '../generated/openapi.ts'
import { ArgumentError, requireAddress, requireHeader, requireLink, toSegment } from './argument.ts'
import { KilnError } from './errors.ts'
import { sendWithin } from './pause.ts'
import { callOwn, RETRY, withRetries } from './retry.ts'
import type { Retry, RetryOptions } from './retry.ts'

type Secret = string | (() => string | Promise<string>)
type Secrets = { token?: Secret | undefined; apiKey?: Secret | undefined }

export interface KilnOptions {
  /** Address of the service, such as `https://kiln.example.com`. */
  baseUrl: string
  /** A bearer token of the service's issuer; a function is asked before each attempt, for tokens that expire. */
  token?: Secret | undefined
  /** An API key, in place of a token. */
  apiKey?: Secret | undefined
  retry?: RetryOptions | undefined
  /** In place of the global `fetch`. */
  fetch?: typeof fetch | undefined
}

export interface Http {
  /** Every route of the document, typed, with this client's credential, retries and idempotency keys. */
  routes: Client<paths>
  /** Sends to the service, once. A path is below its address. */
  send(path: string, init?: RequestInit): Promise<Response>
  /** Sends until there is a success, as the routes do. */
  ask(path: string, signal: AbortSignal | undefined, init?: RequestInit): Promise<Response>
  /** Sends to a signed link, which needs no credential. */
  sendToLink(link: string, init?: RequestInit): Promise<Response>
  hasCredential: boolean
  /** Returns true of a token that reads one task alone. */
  isOfOneTask(): Promise<boolean>
  /** Makes the same with this token in place of its own credential. */
  withToken(token: string): Http
  retry: Retry
}

/** The longest that the service takes is 55 seconds. */
const RESPONSE_MS = 90_000

export const makeHttp = ({ fetch: ownFetch, retry: own, ...options }: KilnOptions): Http => {
  const call = ownFetch ?? ((...args: Parameters<typeof fetch>) => fetch(...args))
  const retry = { ...RETRY, ...own }
  const baseUrl = requireAddress('baseUrl', options.baseUrl)
  for (const name of ['token', 'apiKey'] as const)
    if (options[name] !== undefined && typeof options[name] !== 'function')
      requireHeader(name, options[name])

  const readCredential = () => callOwn(() => credentialHeaders(options))

  const sendRequest = async (request: Request): Promise<Response> => {
    const sent = request.clone()
    for (const [name, value] of Object.entries(await readCredential()))
      sent.headers.set(name, value)
    // A redirect would carry an API key to wherever it leads.
    return await sendWithin(RESPONSE_MS, request, (signal) =>
      call(sent, { signal, redirect: 'error' }),
    )
  }

  const send: Http['send'] = async (path, init = {}) => {
    if (!path.startsWith('/')) throw new ArgumentError('a path must begin with a slash')
    const headers = { ...init.headers, ...(await readCredential()) }
    return await call(baseUrl + path, { ...init, headers, redirect: 'error' })
  }

  return {
    routes: createClient<paths>({
      baseUrl,
      pathSerializer: (path, params) =>
        path.replace(/\{([^{}]+)\}/g, (_, name: string) => toSegment(params[name])),
      // A caller's own key, or one that all attempts of this call share.
      fetch: (request) => {
        if (request.method === 'POST' && !request.headers.has('idempotency-key'))
          request.headers.set('idempotency-key', crypto.randomUUID())
        // A member that nothing reads is an error of the caller, not a wish that is dropped.
        if (!request.headers.has('prefer')) request.headers.set('prefer', 'handling=strict')
        return withRetries(retry, request.signal, () => sendRequest(request))
      },
    }),
    send,
    ask: (path, outer, init = {}) =>
      withRetries(retry, outer, () =>
        sendWithin(RESPONSE_MS, { signal: outer }, (signal) => send(path, { ...init, signal })),
      ),
    sendToLink: async (link, init) => await call(requireLink('link', link), init),
    withToken: (token) =>
      makeHttp({ ...options, fetch: ownFetch, retry: own, token, apiKey: undefined }),
    isOfOneTask: async () => {
      const { authorization = '' } = await credentialHeaders(options)
      return authorization.startsWith('Bearer kiln_task_')
    },
    hasCredential: options.token !== undefined || options.apiKey !== undefined,
    retry,
  }
}

const credentialHeaders = async ({ token, apiKey }: Secrets): Promise<Record<string, string>> => ({
  ...(token === undefined ? {} : { authorization: `Bearer ${await reveal('token', token)}` }),
  ...(apiKey === undefined ? {} : { 'x-api-key': await reveal('apiKey', apiKey) }),
})

const reveal = async (name: string, secret: Secret): Promise<string> =>
  requireHeader(name, typeof secret === 'string' ? secret : await secret())

/** The header of a key that a caller gave. */
export const toKeyHeader = (key: string | undefined): Record<string, string> =>
  key === undefined ? {} : { 'idempotency-key': requireHeader('idempotencyKey', key) }

/** Makes what a request of a route has besides its body. */
export const toInit = <Params extends { path?: object; query?: object } = { path?: never }>(
  { signal }: { signal?: AbortSignal | undefined },
  params = {} as Params,
) => ({ params, signal: signal ?? null })

export type Asked<T> = { data?: T; response: Response }

/** Returns the body of a success. Errors were thrown where the request was sent. */
export const responseOf = async <T>(asked: Promise<Asked<T>>): Promise<NonNullable<T>> => {
  const { data, response } = await asked
  if (data !== undefined && data !== null) return data
  const message = `${response.url} responded without a body`
  throw new KilnError({ code: 'answer_unknown', message, status: response.status })
}
