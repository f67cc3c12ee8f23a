import { createServer } from 'node:http2'
import type { AddressInfo } from 'node:net'

/** A message without members, as gRPC frames it: not compressed, 0 bytes. */
const EMPTY = Buffer.alloc(5)

/**
 * A Temporal that says yes to everything at once. The work of a real server would be counted for the api, on a machine
 * where both share the cores.
 */
export const startStubTemporal = async (): Promise<{ address: string; stop(): Promise<void> }> => {
  const server = createServer()
  server.on('stream', (stream) => {
    stream.on('error', () => {})
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
    stream.on('end', () => {
      stream.respond({ 'content-type': 'application/grpc' }, { waitForTrailers: true })
      stream.end(EMPTY)
    })
    stream.resume()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { address: `127.0.0.1:${port}`, stop: async () => void server.close() }
}
