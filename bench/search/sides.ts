import type { Sql } from '../../src/db/client.ts'
import { connectHttp, encodeRequest } from './http-client.ts'
import type { HttpConnection, HttpRequest } from './http-client.ts'
import type { Shape } from './shapes.ts'
import type { Recorder, Statement } from './statements.ts'

/** Connections to PostgreSQL of each side: what the api takes unless DATABASE_POOL says otherwise. */
export const POOL = 10

/** One way to have a request's work done. */
export interface Side {
  name: 'http' | 'bare'
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
  name: 'http',
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

/** The statements that the requests lead to, and nothing else, through one pool for all lanes. */
export const makeBareSide = (sql: Sql, recorder: Recorder): Side => {
  const known = new Map<HttpRequest, Statement[]>()
  const statementsOf = async (
    request: HttpRequest,
    before?: () => Promise<void>,
  ): Promise<Statement[]> => {
    const statements = known.get(request) ?? (await recorder.record(request, before))
    known.set(request, statements)
    return statements
  }
  return {
    name: 'bare',
    openLane: async ({ requests, before }) => {
      const recorded: Statement[][] = []
      for (const request of requests) recorded.push(await statementsOf(request, before))
      return {
        call: async (at) => {
          for (const statement of recorded[at % recorded.length] ?? []) await send(sql, statement)
          return true
        },
        close: () => {},
      }
    },
  }
}

/** As the driver sent it the first time: prepared, its parameters of the types they had. */
const send = async (sql: Sql, { text, values, types }: Statement): Promise<void> => {
  const typed = values.map((value, at) => sql.typed(value as string, types[at] ?? 0))
  await sql.unsafe(text, typed, { prepare: true })
}
