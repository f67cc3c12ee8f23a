import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'

import { IMAGE_API } from '../support/client.ts'
import { base64 } from '../support/pictures.ts'

export type Callers = Awaited<ReturnType<typeof startCallers>>

const LANES = 4
/** Four lanes make a dozen tasks a second at most: more than one machine with all hosts can do would only pile up. */
const PAUSE_MS = 300
/** A caller waits this long for a response before it asks the next api. */
const PATIENCE_MS = 4000

/** Starts callers that create small tasks in turn, and repeat one without response, with its key, at the next api. */
export const startCallers = async (urls: readonly string[], token: string) => {
  /** Ids of the tasks created with 200, each with the time of the response in Unix milliseconds. */
  const accepted = new Map<string, number>()
  /** Number of requests with another response, or none, by that response. */
  const rejected = new Map<string, number>()
  const stopping = new AbortController()
  const body = JSON.stringify({ image: await base64() })
  let turn = 0
  let last = Date.now()
  let longest = 0
  const seeGap = (): void => {
    longest = Math.max(longest, Date.now() - last)
    last = Date.now()
  }
  const tryCreate = async (key: string): Promise<string | number> => {
    const response = await fetch(`${urls[(turn += 1) % urls.length]}${IMAGE_API}/image-relight`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'idempotency-key': key,
      },
      body,
      signal: AbortSignal.timeout(PATIENCE_MS),
    })
    const text = await response.text()
    if (response.status !== 200) return response.status
    return (JSON.parse(text) as { data: { task_id: string } }).data.task_id
  }
  /** Creates a task; false when a dead process still holds the key, which is then for later. */
  const createUntilAccepted = async (key: string): Promise<boolean> => {
    for (;;) {
      const made = await tryCreate(key).catch(() => 0)
      if (typeof made === 'string') {
        accepted.set(made, Date.now())
        seeGap()
        return true
      }
      const why = made === 0 ? 'no response' : String(made)
      rejected.set(why, (rejected.get(why) ?? 0) + 1)
      if (made === 409) return false
      await sleep(PAUSE_MS)
    }
  }
  const call = async (): Promise<void> => {
    const held: string[] = []
    while (!stopping.signal.aborted || held.length > 0) {
      const key = stopping.signal.aborted ? (held.shift() ?? '') : randomUUID()
      if (!(await createUntilAccepted(key))) held.push(key)
      await sleep(PAUSE_MS)
    }
  }
  const calling = Promise.all(Array.from({ length: LANES }, call))
  return {
    accepted,
    rejected,
    /** The longest time in which no task was accepted, since the last call of it; milliseconds. */
    longestGap() {
      seeGap()
      const found = longest
      longest = 0
      return found
    },
    async stop() {
      stopping.abort()
      await calling
    },
  }
}
