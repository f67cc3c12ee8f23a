import type { Request, RequestHandler } from 'express'

import type { Tracing } from '../../process/tracing.ts'

const READS = ['GET', 'HEAD', 'OPTIONS']

/** Makes what shows requests in traces: those that may change something, and those whose callers trace. */
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
export const routeOf = ({ route }: Request): string =>
  (route as { path: string } | undefined)?.path ?? 'none'
