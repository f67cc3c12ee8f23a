import { startEntry } from '../../test/support/entry.ts'
import type { BareTasks } from '../support/bare-express.ts'
import { connectHttp, encodeRequest } from './http-client.ts'
import type { HttpConnection } from './http-client.ts'
import type { Shape } from './shapes.ts'
import type { Recorder } from './statements.ts'

/** Connections to PostgreSQL of each side: what the api takes unless DATABASE_POOL says otherwise. */
export const POOL = 10

/** One way to have a request's work done. */
export interface Side {
  /** Makes the caller of one lane for requests that are made ready before. */
  openLane(shape: Pick<Shape, 'requests' | 'status' | 'before'>): Promise<Lane>
}

export interface Lane {
  /** Does the request of a place, counted round and round. False when the service had no time for it (503). */
  call(at: number): Promise<boolean>
  close(): void
}

/** Requests over HTTP, each lane on a connection of its own. */
export const makeHttpSide = (baseUrl: string): Side => ({
  openLane: async ({ requests, status = 200 }) => {
    const connection: HttpConnection = await connectHttp(baseUrl)
    const encoded = requests.map((request) => encodeRequest(baseUrl, request))
    return {
      call: async (at) => {
        const answered = await connection.send(encoded[at % encoded.length] as Buffer)
        if (answered !== status && answered !== 503)
          throw new Error(`${requests[at % requests.length]?.path} is answered ${answered}`)
        return answered === status
      },
      close: connection.close,
    }
  },
})

/** Starts a bare Express, which says its port when it is ready. */
export const startBare = async (url: string, tasks?: BareTasks) => {
  const entry = await startEntry({
    path: 'bench/support/bare-express.ts',
    args: [url, ...(tasks ? [JSON.stringify(tasks)] : [])],
    readyMessage: 'bare ready',
    env: { PATH: process.env['PATH'], NODE_ENV: 'production' },
  })
  const ready = entry.log.find((line) => line.includes('bare ready'))
  const { port } = JSON.parse(ready ?? '{}') as { port: number }
  return { baseUrl: `http://127.0.0.1:${port}`, stop: entry.kill }
}

/** Tells the bare Express what requests of the registry lead to. */
export const tellBare = async (
  baseUrl: string,
  recorder: Recorder,
  { requests, before }: Pick<Shape, 'requests' | 'before'>,
): Promise<void> => {
  for (const request of requests) {
    const { method = 'GET', path, headers = {} } = request
    const key = `${method} ${path} ${headers['if-none-match'] ?? ''}`
    const body = JSON.stringify({ key, ...(await recorder.record(request, before)) })
    const type = { 'content-type': 'application/json' }
    await fetch(`${baseUrl}/recorded`, { method: 'POST', headers: type, body })
  }
}
