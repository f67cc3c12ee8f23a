import createClient from 'openapi-fetch'
import type { Client } from 'openapi-fetch'

import type { paths } from '../generated/openapi.ts'
import { KilnError } from './errors.ts'
import { within } from './pause.ts'
import { RETRY, withRetries } from './retry.ts'
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
  /** Sends to a signed link, which needs no credential. */
  sendToLink(link: string, init?: RequestInit): Promise<Response>
  hasCredential: boolean
  retry: Retry
}

/** The longest that the service takes is 55 seconds. */
const RESPONSE_MS = 90_000

export const makeHttp = ({ fetch: ownFetch, retry: own, ...options }: KilnOptions): Http => {
  const call = ownFetch ?? ((...args: Parameters<typeof fetch>) => fetch(...args))
  const retry = { ...RETRY, ...own }
  const baseUrl = options.baseUrl.replace(/\/+$/, '')

  const sendRequest = async (request: Request): Promise<Response> => {
    for (const [name, value] of Object.entries(await credentialHeaders(options)))
      request.headers.set(name, value)
    // A redirect would carry an API key to wherever it leads.
    return await within(RESPONSE_MS, request.signal, (signal) =>
      call(request, { signal, redirect: 'error' }),
    )
  }

  return {
    routes: createClient<paths>({
      baseUrl,
      // A caller's own key, or one that all attempts of this call share.
      fetch: (request) => {
        if (request.method === 'POST' && !request.headers.has('idempotency-key'))
          request.headers.set('idempotency-key', crypto.randomUUID())
        // A member that nothing reads is an error of the caller, not a wish that is dropped.
        if (!request.headers.has('prefer')) request.headers.set('prefer', 'handling=strict')
        return withRetries(retry, request.signal, () => sendRequest(request.clone()))
      },
    }),
    send: async (path, init = {}) => {
      const headers = { ...init.headers, ...(await credentialHeaders(options)) }
      return await call(baseUrl + path, { ...init, headers, redirect: 'error' })
    },
    sendToLink: (link, init) => call(link, init),
    hasCredential: options.token !== undefined || options.apiKey !== undefined,
    retry,
  }
}

const credentialHeaders = async ({ token, apiKey }: Secrets): Promise<Record<string, string>> => ({
  ...(token === undefined ? {} : { authorization: `Bearer ${await reveal(token)}` }),
  ...(apiKey === undefined ? {} : { 'x-api-key': await reveal(apiKey) }),
})

const reveal = async (secret: Secret): Promise<string> =>
  typeof secret === 'string' ? secret : await secret()

export type Asked<T> = { data?: T; response: Response }

/** Returns the body of a success. Errors were thrown where the request was sent. */
export const responseOf = async <T>(asked: Promise<Asked<T>>): Promise<NonNullable<T>> => {
  const { data, response } = await asked
  if (data !== undefined && data !== null) return data
  const message = `${response.url} responded without a body`
  throw new KilnError({ code: 'answer_unknown', message, status: response.status })
}
