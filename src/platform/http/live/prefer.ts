import type { JsonResponse, RouteRequest } from '../route.ts'
import { readPreferences, readWait } from '../serve/preferences.ts'
import type { Semaphore } from '../../domain/semaphore.ts'
import type { Watches } from './watches.ts'

export interface LiveDeps {
  watches: Watches
  /** Limits the reads of watchers: when a restarted database notifies all of them, others still get a connection. */
  watchReadSemaphore: Semaphore
}

interface WaitingRead {
  /** Finds the id of the task or version that is read. */
  findId(): Promise<string> | string
  /** Returns the row, or 304 when it is as in this ETag; without Retry-After when it changes no more. */
  read(known: string | undefined): Promise<JsonResponse>
}

/** Part of a request that its watch needs. */
export type Waiting = Pick<
  RouteRequest,
  'headers' | 'signal' | 'address' | 'account' | 'reauthorise'
>

/**
 * Responds to a read; where the caller prefers to wait (RFC 7240, `Prefer: wait=N`), at the next change of what it has
 * or after N seconds, 60 at most. What a caller has is the ETag in its If-None-Match, or else the response that it would have got at once.
 * When too many wait already, the preference is not applied.
 */
export const respondAfterChange = async (
  { watches, watchReadSemaphore }: LiveDeps,
  request: Waiting,
  { findId, read }: WaitingRead,
): Promise<JsonResponse> => {
  const known = request.headers['if-none-match']
  const seconds = readWait(readPreferences(request.headers['prefer'])) ?? 0
  if (seconds === 0) return await read(known)
  const watch = openOrNot(watches, await findId(), request)
  if (!watch) return await read(known)
  try {
    const deadline = performance.now() + Math.min(seconds, LONGEST_SECONDS) * 1000
    let response = await read(known)
    const seen = known ?? response.headers?.['etag']
    let isChanged = known !== undefined && response.status !== 304
    while (!isChanged && mayChange(response) && performance.now() < deadline) {
      const notifyChange = await watch.next(deadline - performance.now())
      if (notifyChange === 'over') break
      const next = await watchReadSemaphore.run(() => read(seen))
      isChanged = next.status !== 304
      if (isChanged) response = next
    }
    await request.reauthorise()
    return {
      ...response,
      headers: { ...response.headers, 'preference-applied': `wait=${seconds}` },
    }
  } finally {
    watch.close()
  }
}

const mayChange = ({ headers }: JsonResponse): boolean => headers?.['retry-after'] !== undefined

const openOrNot = (watches: Watches, id: string, request: Waiting) => {
  try {
    return watches.open(id, request, request.signal())
  } catch {
    return undefined
  }
}

/** Proxies give up on a response after a minute. */
const LONGEST_SECONDS = 55
