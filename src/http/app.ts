import express from 'express'
import type { Express, NextFunction, Request, RequestHandler, Response } from 'express'
import helmet from 'helmet'

import { apiError, errors } from '../domain/shared/errors.ts'
import type { Log } from '../log.ts'
import { answerPreflight, makeCors, preflightMethod } from './serve/cors.ts'
import { makeErrorRenderer } from './serve/errors.ts'
import { readRequestId } from './serve/request-id.ts'
import type { Method, Route } from './route.ts'
import { makeServe } from './serve/serve.ts'
import type { ServeDeps } from './serve/serve.ts'

export interface AppDeps extends ServeDeps {
  routes: readonly Route[]
  log: Log
  /** Origins whose pages may call every route (CORS_ORIGINS); none unless given. */
  corsOrigins?: readonly string[]
  /** Networks of the proxies whose X-Forwarded-For names the client (TRUST_PROXY); none unless given. */
  trustProxy?: readonly string[]
}

/** Mounts the routes. Whatever a request is, its answer is JSON in the one shape, or a file. */
export const makeApp = (deps: AppDeps): Express => {
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.enable('case sensitive routing')
  app.set('query parser', false)
  app.set('trust proxy', [...(deps.trustProxy ?? [])])
  app.use(helmet(), identify, refuseBadPath)
  const serve = makeServe(deps)
  const cors = makeCors(deps.corsOrigins ?? [])
  app.use((request: Request, response: Response, next: NextFunction) => {
    cors.allow(request, response)
    next()
  })
  for (const [path, routes] of groupByPath(deps.routes))
    app.all(path, dispatch(routes, { serve, cors }))
  app.use((request: Request) => {
    throw errors.routeNotFound(request.path)
  })
  app.use(makeErrorRenderer(deps))
  return app
}

const identify: RequestHandler = (request, response, next) => {
  response.setHeader('x-request-id', readRequestId(request.headers))
  next()
}

const refuseBadPath: RequestHandler = (request, _response, next) => {
  try {
    if (!decodeURIComponent(request.path).includes('\0')) return next()
  } catch {
    // An escape that does not decode is refused like NUL.
  }
  throw apiError('path_invalid')
}

/** Routes by path, fixed words before parameters: GET …/skin-enhancer/flexible is no task called "flexible". */
const groupByPath = (routes: readonly Route[]): [string, Route[]][] => {
  const byPath = new Map<string, Route[]>()
  for (const route of routes) byPath.set(route.path, [...(byPath.get(route.path) ?? []), route])
  return [...byPath].toSorted(([a], [b]) => countParameters(a) - countParameters(b))
}

const countParameters = (path: string): number => path.split('/:').length

type Serve = (route: Route) => (request: Request, response: Response) => Promise<void>

interface Dispatch {
  serve: Serve
  cors: ReturnType<typeof makeCors>
}

const dispatch = (routes: Route[], { serve, cors }: Dispatch): RequestHandler => {
  const handlers = new Map(routes.map((route) => [route.method, serve(route)]))
  const allow = [...handlers.keys()].flatMap((method) =>
    method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()],
  )
  return async (request: Request, response: Response, _next: NextFunction) => {
    const asked = preflightMethod(request)
    const method = toMethod(asked ?? request.method)
    const mayRead = cors.allow(request, response, routeOf(routes, method))
    if (asked !== undefined && mayRead) return answerPreflight(response, allow)
    const handler = handlers.get(toMethod(request.method))
    if (!handler) throw errors.methodNotAllowed(request.method, request.path, allow)
    await handler(request, response)
  }
}

const toMethod = (method: string): Method =>
  (method.toUpperCase() === 'HEAD' ? 'get' : method.toLowerCase()) as Method

const routeOf = (routes: readonly Route[], method: Method): Route | undefined =>
  routes.find((route) => route.method === method)
