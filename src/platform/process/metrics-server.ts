import { createServer, type RequestListener } from 'node:http'

import type { Log } from '../log.ts'
import { listen } from './listen.ts'
import type { Metrics } from './metrics.ts'

export interface MetricsServerOptions {
  port: number
  host: string
  metrics: Metrics
  log: Log
  /** Returns true while the process does its work; absent: it does while it responds. */
  isHealthy?: () => boolean
  /** Sets metrics that are read when they are asked for. */
  refresh?: (() => Promise<void>) | undefined
  /** Returns metrics in the same format that others keep for the process. */
  further?: (() => Promise<string>) | undefined
}

/**
 * Serves `GET /metrics` and `GET /health` on a port of their own, which is not for callers.
 *
 * @returns the port, and what closes the server
 */
export const startMetricsServer = async ({
  port,
  host,
  log,
  ...options
}: MetricsServerOptions): Promise<{ port: number; close(): void }> => {
  const server = createServer(respond(options))
  return {
    port: await listen(server, { port, host, setting: 'METRICS_PORT', log }),
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

const respond =
  ({
    metrics: { registry },
    isHealthy = () => true,
    refresh = () => Promise.resolve(),
    further = () => Promise.resolve(''),
  }: Omit<MetricsServerOptions, 'port' | 'host' | 'log'>): RequestListener =>
  ({ url }, response) => {
    if (url === '/health') {
      const status = isHealthy() ? 'ok' : 'stopped'
      response.writeHead(status === 'ok' ? 200 : 503, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ status }))
      return
    }
    if (url !== '/metrics') {
      response.writeHead(404).end()
      return
    }
    // What others keep is left out where it cannot be had.
    Promise.all([further().catch(() => ''), refresh()])
      .then(async ([others]) => (await registry.metrics()) + others)
      .then(
        (text) => response.writeHead(200, { 'content-type': registry.contentType }).end(text),
        () => response.writeHead(500).end(),
      )
  }
