import { createHash } from 'node:crypto'

import type { Request, Response } from 'express'

import { apiError, errors, shown } from '../../domain/shared/errors.ts'
import type { ApiError } from '../../domain/shared/errors.ts'
import { onePerField, sortFaults } from '../../domain/shared/validate.ts'
import type { Fault } from '../../domain/shared/validate.ts'
import type { Authenticate, Caller } from '../access/auth.ts'
import { faultsError, toApiError } from './errors.ts'
import { sendContinue } from './expect.ts'
import { sendJson } from './json-response.ts'
import { readIdempotencyKey } from '../access/idempotency.ts'
import type { Claim, Idempotency } from '../access/idempotency.ts'
import { closeWhenStopping } from './lifecycle.ts'
import type { Lifecycle } from './lifecycle.ts'
import { makeLimiter } from '../access/limiter.ts'
import { accountOf, addressOf, principalOf } from '../access/principal.ts'
import { makeQueryReader, rawQuery } from './query.ts'
import { makeBodyReader } from '../body/read-body.ts'
import type { BodyDeps, ReadBody } from '../body/read-body.ts'
import type { RateLimits } from '../access/rate-limit.ts'
import { changes } from '../route.ts'
import type { Answer, JsonAnswer, Route, RouteRequest, SavedAnswer } from '../route.ts'

export interface ServeDeps extends BodyDeps {
  authenticate: Authenticate
  idempotency: Idempotency
  lifecycle: Lifecycle
  /** Absent: nobody is limited. */
  rateLimits?: RateLimits | undefined
}

/**
 * Makes what serves a route. The order of judgement is fixed: quota of the address, stopping, credential, quota of the
 * caller, type and length of the body, Idempotency-Key, budget, JSON, schemas and rules together, then the handler.
 */
export const makeServe = (deps: ServeDeps) => (route: Route) => {
  const readQuery = makeJudgedQuery(route)
  const reader = makeBodyReader(deps, route)
  const limiter = makeLimiter(deps.rateLimits)
  const serve = async (request: Request, response: Response): Promise<void> => {
    const address = addressOf(request)
    await limiter.enter(route, address)
    if (deps.lifecycle.state === 'closing' && !route.evenWhileClosing) throw errors.draining()
    const caller = await authorise(deps, route, request)
    const isTried = route.dryRun !== undefined && isDryRun(request)
    const counted = isTried ? ({ ...route, quota: 'read' } as const) : route
    await limiter.count(counted, { address, response, caller })
    reader.check(request)
    const claim = await claimKey(deps, route, { request, caller, isTried })
    const answer = await underClaim(claim, async () => {
      const body = await reader.read(request, response, address)
      try {
        const replayed = claim?.replay(body.fingerprint())
        if (replayed) return withEcho(route, replayed, body.value)
        const query = readQuery(request, caller)
        const faults = [...judgeTrial(route, request), ...query.faults, ...body.faults]
        const refusal = faultsError(faults, { query: query.value, body: body.value })
        if (refusal) throw refusal
        const parts = { route, request, response, address, query: query.value, body, caller, claim }
        return await handle(route, makeRequest(parts), { isTried, claim, body })
      } finally {
        await body.discard()
      }
    })
    closeWhenStopping(deps.lifecycle, response)
    return 'stream' in answer
      ? answer.stream(response)
      : sendJson(deps.budget, response, answer, { route, caller, address })
  }
  return async (request: Request, response: Response): Promise<void> => {
    try {
      await serve(request, response)
    } catch (error) {
      throw await limiter.refuse(request, error)
    }
  }
}

/** As the schema reads the parameter, before the query is judged. */
const isDryRun = (request: Request): boolean => /^(true|1)$/i.test(readDryRun(request))

const readDryRun = ({ url }: Request): string =>
  new URLSearchParams(rawQuery(url)).get('dry_run') ?? ''

/** Whoever asks for a trial must not get the real thing where there is none. */
const judgeTrial = (route: Route, request: Request): Fault[] => {
  if (!changes(route) || route.dryRun || !isDryRun(request)) return []
  const message = `?dry_run must be absent: this route has no trial, got ${shown(readDryRun(request))}`
  return [{ field: '?dry_run', message, code: 'validation_failed' }]
}

/** Makes the reader of a route's query with the rules that its schema cannot say. */
const makeJudgedQuery = ({ query, queryEmptyIsAbsent, queryLists, judgeQuery }: Route) => {
  const read = query && makeQueryReader(query, queryEmptyIsAbsent, queryLists)
  return (request: Request, caller: Caller | undefined) => {
    const { value, faults } = read?.(rawQuery(request.url)) ?? { value: {}, faults: [] }
    const rules = judgeQuery?.({ query: value as Record<string, unknown>, caller }) ?? []
    return { value, faults: query ? sortFaults(query, onePerField(faults, rules)) : [] }
  }
}

/** Runs the handler. A POST that only reads has no transaction in which it could save its response. */
const handle = async (
  route: Route,
  request: RouteRequest,
  { isTried, claim, body }: Pick<Parts, 'claim' | 'body'> & { isTried: boolean },
): Promise<Answer> => {
  if (isTried && route.dryRun) return await route.dryRun(request)
  const answer = await route.handler(request)
  if (route.readsOnly && !('stream' in answer)) await claim?.save(answer, body.fingerprint())
  return answer
}

/** Runs the work of a request whose key is claimed, and frees the key when it is refused or fails. */
const underClaim = async (
  claim: Claim | undefined,
  work: () => Promise<Answer>,
): Promise<Answer> => {
  try {
    const answer = await work()
    claim?.keep()
    return answer
  } catch (error) {
    const released = claim?.release()
    // A database that does not answer delays the release too, and the caller has waited long enough for its 503.
    if (toApiError(error).status < 500) await released
    throw error
  }
}

const authorise = async (
  { authenticate }: ServeDeps,
  route: Route,
  request: Request,
): Promise<Caller | undefined> => {
  if (route.auth === 'none') return undefined
  if (route.auth === 'own') route.authorise?.(request.headersDistinct)
  if (route.auth === 'own') return undefined
  const takes = { tokens: route.takesTokens }
  const caller = await authenticate(request.headersDistinct, takes).catch((error: unknown) => {
    throw toApiError(error).code === 'unauthorized' ? unauthorized(route, error) : error
  })
  if (!caller && route.auth !== 'optional') throw unauthorized(route)
  if (route.auth === 'jwt' && caller?.scheme !== 'jwt')
    throw apiError('forbidden', 'This route takes a bearer token of the issuer, not an API key.')
  return caller
}

const unauthorized = ({ unauthorizedMessage }: Route, cause?: unknown): ApiError =>
  errors.unauthorized(cause, unauthorizedMessage)

const claimKey = async (
  { idempotency }: ServeDeps,
  route: Route,
  { request, caller, isTried }: { request: Request; caller: Caller | undefined; isTried: boolean },
): Promise<Claim | undefined> => {
  const key = route.method === 'post' ? readIdempotencyKey(request.headers) : undefined
  if (key === undefined || isTried) return undefined
  const principal = principalOf(caller, request.ip)
  const scope = { principal, method: 'POST', path: scopePath(route, request), key }
  return await idempotency.claim({ scope, secret: route.secretAnswer ?? false })
}

/**
 * The path whose keys are apart from those of others, one for all spellings of a resource: of the ids in paths only
 * versions regard case. Of a long one its digest, because an index has no room for it.
 */
const scopePath = (route: Route, { params }: Request): string => {
  const path = route.path.replace(/:(\w+)/g, (_, name: string) => {
    const value = String(params[name])
    return encodeURIComponent(name === 'version' ? value : value.toLowerCase())
  })
  return path.length <= 1000 ? path : createHash('sha256').update(path).digest('hex')
}

interface Parts {
  route: Route
  request: Request
  response: Response
  address: string
  query: unknown
  body: ReadBody
  caller: Caller | undefined
  claim: Claim | undefined
}

const makeRequest = (parts: Parts): RouteRequest => {
  const { route, request, response, address, query, body, caller, claim } = parts
  return {
    params: request.params,
    query,
    body: body.value,
    inline: body.inline,
    caller,
    headers: request.headers,
    requestId: String(response.getHeader('x-request-id')),
    address,
    account: () => accountOf(caller, request.ip),
    signal: () => abortedWith(response),
    incoming: request,
    accept: () => sendContinue(request, response),
    saveIdempotentResponse: async (sql, answer) => {
      await claim?.save(withoutEcho(route, answer), body.fingerprint(), sql)
      return answer as SavedAnswer
    },
  }
}

/** An answer as it is stored: the request that asks for it again brings what the route repeats. */
const withoutEcho = ({ echo }: Route, answer: JsonAnswer): JsonAnswer => {
  if (echo === undefined) return answer
  const { [echo]: _repeated, ...body } = answer.body as Record<string, unknown>
  return { ...answer, body }
}

const withEcho = ({ echo }: Route, answer: JsonAnswer, given: unknown): JsonAnswer => {
  const value = echo === undefined ? undefined : (given as Record<string, unknown>)[echo]
  if (echo === undefined || value === undefined || value === null) return answer
  return { ...answer, body: { ...(answer.body as object), [echo]: value } }
}

const abortedWith = (response: Response): AbortSignal => {
  const gone = new AbortController()
  if (response.closed) gone.abort()
  else response.once('close', () => gone.abort())
  return gone.signal
}
