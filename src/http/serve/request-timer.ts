import type { Request, RequestHandler, Response } from 'express'

import type { Metrics } from '../../process/metrics.ts'
import { routeOf } from './request-span.ts'

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
  response.hasHeader('preference-applied') ||
  String(response.getHeader('content-type')).startsWith('text/event-stream')

const labelsOf = (request: Request, response: Response) => {
  const status = response.headersSent ? `${Math.floor(response.statusCode / 100)}xx` : 'gone'
  const route = response.statusCode === 405 ? 'none' : routeOf(request)
  if (route === 'none') return { method: 'other', route, status }
  return { method: request.method === 'HEAD' ? 'GET' : request.method, route, status }
}
