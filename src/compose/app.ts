import type { IncomingMessage, ServerResponse } from 'node:http'

import express from 'express'
import type { Express, Request, RequestHandler, Response } from 'express'
import helmet from 'helmet'

import { apiError, errors, shown } from '../platform/domain/errors.ts'
import type { Log } from '../platform/log.ts'
import type { Metrics } from '../platform/process/metrics.ts'
import type { Tracing } from '../platform/process/tracing.ts'
import { makeAuthorise, type AuthoriseDeps } from '../identity/http/access/authorise.ts'
import { useAliases } from '../platform/http/path.ts'
import { makeCors } from '../platform/http/serve/cors.ts'
import { makeErrorRenderer } from '../platform/http/serve/errors.ts'
import { makeRequestSpan, makeRequestTimer } from '../platform/http/serve/request-span.ts'
import { readRequestId } from '../platform/http/serve/request-id.ts'
import { findRoute, type Route } from '../platform/http/route.ts'
import { makeServe, type ServeDeps } from '../platform/http/serve/serve.ts'
import { VIDEO_ERRORS } from '../tasks/http/video/error-form.ts'

export interface AppDeps extends Omit<ServeDeps, 'authorise'>, AuthoriseDeps {
  routes: readonly Route[]
  log: Log
  /** Absent: requests are not counted. */
  metrics?: Metrics | undefined
  /** Absent: nothing is traced. */
  tracing?: Tracing | undefined
  /** Origins whose pages may call every route (CORS_ORIGINS); none unless given. */
  corsOrigins?: readonly string[]
  /** Serves /console/; absent where the console is off. */
  console?: RequestHandler | undefined
  /** Serves /auth/; absent where an issuer elsewhere signs in. */
  signIn?: RequestHandler | undefined
  /** Networks of the proxies whose X-Forwarded-For names the client (TRUST_PROXY); none unless given. */
  trustProxy?: readonly string[]
}

/** Mounts the routes. Whatever a request is, its response is JSON in the one shape, or a file. */
export const makeApp = (deps: AppDeps): Express => {
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.enable('case sensitive routing')
  app.set('query parser', false)
  app.set('trust proxy', [...(deps.trustProxy ?? [])])
  if (deps.metrics) app.use(makeRequestTimer(deps.metrics))
  if (deps.tracing) app.use(makeRequestSpan(deps.tracing))
  app.use(makeIdentify(), rejectBadPath)
  if (deps.console) app.use('/console', deps.console)
  if (deps.signIn) app.use('/auth', deps.signIn)
  if (deps.aliases) useAliases(app, deps.aliases, deps.routes)
  const serve = makeServe({ ...deps, authorise: makeAuthorise(deps) })
  const origins = deps.corsOrigins ?? []
  const routers = new Map<string, express.Router>()
  for (const [path, routes] of groupByPath(deps.routes)) {
    const methods = listMethods(routes)
    const router = routers.get(firstWord(path)) ?? express.Router({ caseSensitive: true })
    routers.set(firstWord(path), router)
    // One layer a path; `app.all` makes 35: docs/decisions.md, Requests and responses.
    router.route(path).all(makeCors({ origins, routes, methods }), dispatch(routes, methods, serve))
  }
  app.use((request, response, next) => {
    const router = routers.get(firstWord(request.path))
    if (router) router(request, response, next)
    else next()
  })
  app.use(makeCors({ origins }), (request: Request) => {
    throw errors.routeNotFound(request.path)
  })
  app.use(makeErrorRenderer({ ...deps, errorForm: VIDEO_ERRORS }))
  return app
}

/** Names the request, and sets the headers that helmet gives every response; they are the same each time. */
const makeIdentify = (): RequestHandler => {
  const headers = readHelmet()
  return (request, response, next) => {
    for (const [name, value] of headers) response.setHeader(name, value)
    response.setHeader('x-request-id', readRequestId(request.headers))
    next()
  }
}

const readHelmet = (): [string, string][] => {
  const headers: [string, string][] = []
  const response = {
    setHeader: (name: string, value: string) => headers.push([name, value]),
    removeHeader: () => {},
  }
  helmet()({} as IncomingMessage, response as unknown as ServerResponse, () => {})
  return headers
}

const rejectBadPath: RequestHandler = (request, _response, next) => {
  try {
    if (!decodeURIComponent(request.path).includes('\0')) return next()
  } catch {
    // An escape that does not decode is rejected like NUL.
  }
  throw apiError(
    'path_invalid',
    `The path must decode to UTF-8 without NUL, got ${shown(request.path)}.`,
  )
}

/** Routes by path, fixed words before parameters: GET …/skin-enhancer/flexible is no task called "flexible". */
const groupByPath = (routes: readonly Route[]): [string, Route[]][] => {
  const byPath = new Map<string, Route[]>()
  for (const route of routes) byPath.set(route.path, [...(byPath.get(route.path) ?? []), route])
  return [...byPath].toSorted(([a], [b]) => countParameters(a) - countParameters(b))
}

/** The word of a path that chooses among few layers in place of all: docs/decisions.md, Requests and responses. */
const firstWord = (path: string): string => path.split('/', 2)[1] ?? ''

const countParameters = (path: string): number => path.split('/:').length

type Serve = (route: Route) => (request: Request, response: Response) => Promise<void>

const listMethods = (routes: readonly Route[]): string[] =>
  routes.flatMap(({ method }) => (method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()]))

const dispatch = (
  routes: readonly Route[],
  methods: readonly string[],
  serve: Serve,
): RequestHandler => {
  const handlers = new Map(routes.map((route) => [route, serve(route)]))
  return async (request: Request, response: Response) => {
    const route = findRoute(routes, request.method)
    const handler = route && handlers.get(route)
    if (!handler) throw errors.methodNotAllowed(request.method, request.path, methods)
    await handler(request, response)
  }
}
