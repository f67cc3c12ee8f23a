import type { CreateOptions } from './create.ts'
import type { Asked, Http } from './http.ts'

/** State of what an earlier request with the same idempotency key has made, as it is now; empty where that cannot be read. */
export interface Replay {
  created_at?: string | undefined
  state?: string | undefined
  ended_at?: string | undefined
}

/** Reads what the response is of when it is an earlier one's. A key of the client's own is that of an attempt before. */
export const readReplay = async (
  http: Http,
  asked: Promise<Asked<unknown>>,
  path: string,
  { idempotencyKey, signal }: CreateOptions,
): Promise<Replay | undefined> => {
  const { headers } = (await asked).response
  if (idempotencyKey === undefined || !headers.has('idempotent-replayed')) return undefined
  // What was made stands, whatever becomes of this read.
  const { created_at, state, ended_at } = await http
    .ask(path, signal)
    .then((response) => response.json() as Promise<Replay>)
    .catch((): Replay => ({}))
  return { created_at, state, ended_at }
}
