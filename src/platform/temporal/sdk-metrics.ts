import { get } from 'node:http'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/**
 * Plans the port on which the native part of Temporal's SDK shows its own metrics. It cannot hand them over otherwise,
 * and does not report a port that it chose: a free one is looked for, and read on this machine alone. The SDKs of other
 * languages give the same names.
 */
export const planSdkMetrics = async () => {
  const port = await findFreePort()
  return {
    options: {
      metrics: {
        prometheus: {
          bindAddress: `127.0.0.1:${port}`,
          countersTotalSuffix: true,
          unitSuffix: true,
          useSecondsForDurations: true,
        },
      },
    },
    read: (): Promise<string> =>
      new Promise((resolve, reject) => {
        get(
          { host: '127.0.0.1', port, path: '/metrics', signal: AbortSignal.timeout(2000) },
          (response) => {
            text(response).then(resolve, reject)
          },
        ).once('error', reject)
      }),
  }
}

const findFreePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer().once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
