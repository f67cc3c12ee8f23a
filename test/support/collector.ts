import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingHttpHeaders } from 'node:http'
import { json } from 'node:stream/consumers'
import { after, before } from 'node:test'

import { findPort } from '../../src/local/port.ts'

/** A span as a collector is sent it; times are nanoseconds. */
export interface Span {
  name: string
  traceId: string
  spanId: string
  parentSpanId?: string
  startTimeUnixNano: string
  endTimeUnixNano: string
}

interface Export {
  resourceSpans: { scopeSpans: { spans: Span[] }[] }[]
}

/** A collector of traces for the tests of a file; it receives webhooks, too. Its address is known at once. */
export const useCollector = async () => {
  const port = await findPort()
  const spans: Span[] = []
  const webhooks: IncomingHttpHeaders[] = []
  const server = createServer((request, response) => {
    const take = async (): Promise<void> => {
      const body = await json(request)
      if (request.url !== '/v1/traces') webhooks.push(request.headers)
      else
        for (const { scopeSpans } of (body as Export).resourceSpans)
          spans.push(...scopeSpans.flatMap((scope) => scope.spans))
      response.end('{}')
    }
    void take()
  })
  before(async () => {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
  })
  after(() => {
    server.close()
    server.closeAllConnections()
  })
  return { url: `http://127.0.0.1:${port}`, spans: () => spans, webhooks: () => webhooks }
}
