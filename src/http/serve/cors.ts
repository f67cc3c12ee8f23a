import type { Request, Response } from 'express'

import type { Route } from '../route.ts'

/** What pages of another origin may read, send and do. No cookies are taken, so that credentials need no leave. */
const EXPOSED = 'ETag, X-Total-Count, X-Request-Id, Retry-After'
const SENT =
  'Authorization, X-API-KEY, Content-Type, Content-Digest, Idempotency-Key, If-Match, If-None-Match, If-Range, Range, X-Request-Id'
const ANSWER_SECONDS = 7200

/** Makes the judge of origins: pages of the listed ones may call every route, all others what is for everybody to read. */
export const makeCors = (origins: readonly string[]) => {
  /** Says in the answer that the page which asks may read it; false when it may not. */
  const allow = (request: Request, response: Response, route?: Pick<Route, 'read'>): boolean => {
    const { origin } = request.headers
    if (route?.read === 'public') {
      response.setHeader('access-control-allow-origin', '*')
    } else {
      if (origins.length > 0) response.vary('Origin')
      if (origin === undefined || !origins.includes(origin)) return false
      response.setHeader('access-control-allow-origin', origin)
    }
    response.setHeader('access-control-expose-headers', EXPOSED)
    return true
  }

  return { allow }
}

/** Answers a browser that asks before it calls. */
export const answerPreflight = (response: Response, methods: readonly string[]): void => {
  response.set({
    'access-control-allow-methods': methods.join(', '),
    'access-control-allow-headers': SENT,
    'access-control-max-age': String(ANSWER_SECONDS),
  })
  response.status(204).end()
}

/** The method that a browser asks leave for, in lower case; undefined for any other request. */
export const preflightMethod = ({ method, headers }: Request): string | undefined =>
  method === 'OPTIONS' && headers.origin !== undefined
    ? headers['access-control-request-method']?.toLowerCase()
    : undefined
