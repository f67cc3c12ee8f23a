import type { Request, Response } from 'express'

import { apiError, errors } from '../domain/errors.ts'
import type { Authenticate, Caller } from './auth.ts'
import { faultsError } from './errors.ts'
import { readIdempotencyKey } from './idempotency.ts'
import type { Claim, Idempotency } from './idempotency.ts'
import type { Lifecycle } from './lifecycle.ts'
import { makeQueryReader } from './query.ts'
import { makeBodyReader } from './read-body.ts'
import type { BodyDeps, ReadBody } from './read-body.ts'
import type { Answer, JsonAnswer, Route, RouteRequest } from './route.ts'

export interface ServeDeps extends BodyDeps {
  authenticate: Authenticate
  idempotency: Idempotency
  lifecycle: Lifecycle
}

/**
 * Makes what serves a route. The order of judgement is fixed: stopping, credential, type and length of the body,
 * Idempotency-Key, budget, JSON, schemas and rules together, then the handler.
 */
export const makeServe = (deps: ServeDeps) => (route: Route) => {
  const readQuery = route.query && makeQueryReader(route.query)
  const reader = makeBodyReader(deps, route)
  return async (request: Request, response: Response): Promise<void> => {
    refuseWhileClosing(deps.lifecycle, response)
    const caller = await authorise(deps, route, request)
    const principal = caller?.principal ?? request.ip ?? ''
    reader.check(request)
    const claim = await claimKey(deps, route, { request, principal })
    let body: ReadBody | undefined
    let answer: Answer | undefined
    try {
      body = await reader.read(request, response)
      answer = claim?.replay(body.fingerprint)
      if (!answer) {
        const query = readQuery?.(searchOf(request)) ?? { value: {}, faults: [] }
        const refusal = faultsError([...query.faults, ...body.faults])
        if (refusal) throw refusal
        const parts = { request, response, query: query.value, body, caller, principal, claim }
        answer = await route.handler(makeRequest(parts))
      }
    } finally {
      await claim?.end(answer ? 'answered' : 'failed')
      await body?.discard()
    }
    await send(response, answer)
  }
}

const refuseWhileClosing = ({ state }: Lifecycle, response: Response): void => {
  if (state === 'serving') return
  response.setHeader('connection', 'close')
  if (state === 'closing') throw errors.draining()
}

const authorise = async (
  { authenticate }: ServeDeps,
  route: Route,
  request: Request,
): Promise<Caller | undefined> => {
  if (route.auth === 'none') return undefined
  const caller = await authenticate(request.headersDistinct)
  if (!caller) throw errors.unauthorized()
  if (route.auth === 'jwt' && caller.scheme !== 'jwt')
    throw apiError('forbidden', 'This route takes a bearer token of the issuer, not an API key.')
  return caller
}

const claimKey = async (
  { idempotency }: ServeDeps,
  route: Route,
  { request, principal }: { request: Request; principal: string },
): Promise<Claim | undefined> => {
  const key = route.method === 'post' ? readIdempotencyKey(request.headers) : undefined
  if (key === undefined) return undefined
  const scope = { principal, method: 'POST', path: request.path, key }
  return await idempotency.claim({ scope, secret: route.secretAnswer ?? false })
}

const searchOf = (request: Request): URLSearchParams =>
  new URLSearchParams(request.url.split('?')[1] ?? '')

interface Parts {
  request: Request
  response: Response
  query: unknown
  body: ReadBody
  caller: Caller | undefined
  principal: string
  claim: Claim | undefined
}

const makeRequest = (parts: Parts): RouteRequest => {
  const { request, response, query, body, caller, principal, claim } = parts
  return {
    params: request.params,
    query,
    body: body.value,
    inline: body.inline,
    caller,
    principal,
    headers: request.headers,
    requestId: String(response.getHeader('x-request-id')),
    signal: abortedWith(response),
    incoming: request,
    finish: async (sql, answer) => claim?.finish(sql, answer, body.fingerprint),
  }
}

const abortedWith = (response: Response): AbortSignal => {
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  return gone.signal
}

const send = async (response: Response, answer: Answer): Promise<void> => {
  if ('stream' in answer) await answer.stream(response)
  else sendJson(response, answer)
}

const sendJson = (response: Response, { status, headers, body }: JsonAnswer): void => {
  response.status(status).set(headers ?? {})
  if (body === undefined) response.end()
  else response.json(body)
}
