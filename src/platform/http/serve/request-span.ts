import type { Request, RequestHandler, Response } from 'express'

import type { Tracing } from '../../process/tracing.ts'
import type { Metrics } from '../../process/metrics.ts'

const READS = ['GET', 'HEAD', 'OPTIONS']

/** Makes what shows requests in traces: requests that may change something, and requests whose callers trace. */
export const makeRequestSpan =
  ({ open }: Tracing): RequestHandler =>
  (request, response, next) => {
    const parent = request.headersDistinct['traceparent']?.[0]
    const { method } = request
    if (parent === undefined && READS.includes(method)) return next()
    const attributes = { 'http.request.method': method }
    const span = open(method, { kind: 'server', parent: parent ?? '', attributes })
    response.once('close', () => {
      const { statusCode: status } = response
      const route = routeOf(request)
      span.end({
        name: `${method} ${route}`,
        attributes: { 'http.route': route, 'http.response.status_code': status },
        isError: status >= 500,
      })
    })
    span.run(next)
  }

/** The template of the path; Express types it as anything. */
const routeOf = ({ route }: Request): string =>
  (route as { path: string } | undefined)?.path ?? 'none'

/**
 * Makes what counts and times requests by route. A path that is no route's, and a method that a route does not have, are
 * counted as one, so that no caller makes up new labels. Streams and reads that wait take as long as their callers like;
 * they are left out.
 */
export const makeRequestTimer =
  ({ requests }: Metrics): RequestHandler =>
  (request, response, next) => {
    const start = performance.now()
    response.once('close', () => {
      if (isWaiting(response)) return
      requests.observe(labelsOf(request, response), (performance.now() - start) / 1000)
    })
    next()
  }

const isWaiting = (response: Response): boolean =>
  String(response.getHeader('preference-applied')).startsWith('wait') ||
  String(response.getHeader('content-type')).startsWith('text/event-stream')

const labelsOf = (request: Request, response: Response) => {
  const status = response.headersSent ? `${Math.floor(response.statusCode / 100)}xx` : 'gone'
  const route = response.statusCode === 405 ? 'none' : routeOf(request)
  if (route === 'none') return { method: 'other', route, status }
  return { method: request.method === 'HEAD' ? 'GET' : request.method, route, status }
}
