import cors from 'cors'
import type { Request, RequestHandler } from 'express'

import { sendsTaskToken } from '../access/task-token.ts'
import { findRoute, type Route } from '../route.ts'

/** Headers that pages of another origin may read and send. They send no cookies, so nothing allows credentials. */
const EXPOSED =
  'ETag, Location, X-Total-Count, X-Request-Id, X-Credits-Used, X-Estimated-Duration-Seconds, Idempotent-Replayed, Preference-Applied, Ignored-Fields, Retry-After, RateLimit, RateLimit-Policy, Deprecation, Sunset'
/** Clients of the host send Cache-Control, Pragma and Expires after each edit. */
const SENT =
  'Authorization, X-API-KEY, Content-Type, Content-Digest, Idempotency-Key, If-Match, If-None-Match, If-Range, Range, X-Request-Id, Cache-Control, Pragma, Expires, Prefer, Last-Event-ID, traceparent'
const PREFLIGHT_SECONDS = 7200

interface CorsPath {
  /** Origins whose pages may call every route. */
  origins: readonly string[]
  /** The routes of one path. */
  routes?: readonly Route[]
  /** The methods of the path, as Allow lists them. */
  methods?: readonly string[]
}

/**
 * Lets pages of the listed origins call the routes of a path. Pages of all others may make its public reads, and read by
 * tokens for one task: whoever has one may read whatever page it is in, and no browser sends one by itself.
 */
export const makeCors = ({ origins, routes = [], methods = [] }: CorsPath): RequestHandler =>
  cors<Request>((request, decide) => {
    const { method, headers } = request
    const asked = headers.origin && headers['access-control-request-method']
    const route = findRoute(routes, (method === 'OPTIONS' ? asked : method) ?? '')
    // What asks first does not say with which credential.
    const isOpen =
      route?.read === 'public' ||
      (route?.takesTaskTokens && (method === 'OPTIONS' || sendsTaskToken(route, request)))
    const mayCall = isOpen || origins.includes(headers.origin ?? '')
    decide(null, {
      origin: isOpen ? '*' : origins.length > 0 && [...origins],
      // Any other OPTIONS is rejected as a method that the path does not take.
      preflightContinue: asked === undefined || !mayCall || routes.length === 0,
      methods: methods.join(', '),
      allowedHeaders: SENT,
      exposedHeaders: EXPOSED,
      maxAge: PREFLIGHT_SECONDS,
    })
  })
