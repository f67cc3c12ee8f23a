import { requireNames } from './argument.ts'
import { isPassing, KilnError, readRetryAfter } from './errors.ts'
import type { ErrorCode } from './errors.ts'
import type { Http } from './http.ts'
import { pause, sendWithin } from './pause.ts'
import { MAX_MS, pauseAfter, sendOnce } from './retry.ts'
import { readServerSentEvents } from './server-sent-events.ts'

export interface FollowOptions {
  signal?: AbortSignal | undefined
  /** Milliseconds for which the service may be away before waiting fails. Default 300,000. */
  patienceMs?: number | undefined
}

/** Task or version that is followed until its end. */
export interface Followed<State> {
  /** Path of its stream; absent where it has none. */
  streamPath?: string
  /** Path of its status; found when it is needed. */
  findStatusPath(): Promise<string>
  /** Called with each response of its status and each event of its stream. */
  onEvent(followEvent: FollowEvent): void
  /** Returns the state in a response or an event, once it is the last. */
  readEnd(followEvent: FollowEvent): State | undefined
}

const WAIT_OPTIONS = ['signal', 'patienceMs', 'onProgress'] as const
/** Time-out, as other libraries have it. */
const WAIT_MEANT = { timeout: 'signal: AbortSignal.timeout(ms)' }

type FollowEvent = { event: string; data: unknown }

const PATIENCE_MS = 300_000
/** Failures in a row after which the next way is taken. */
const ATTEMPTS = 3
/** Seconds within which a waiting read gets its response. There are proxies that cut what is silent for 30. */
const WAIT_SECONDS = 25
/** Between reads of a status that does not say when: what takes long is asked less and less often. */
const PAUSE_MS = { min: 500, max: 10_000 }

/** Ways to read, each for where the one before is not let through: by the stream, by `Prefer: wait`, and as often as Retry-After says. */
type Way = 'stream' | 'waiting' | 'plain'
const NEXT = { stream: 'waiting', waiting: 'plain' } as const

/** Waits for an end by the first way that is let through. */
export const follow = async <State>(
  http: Http,
  followed: Followed<State>,
  options: FollowOptions = {},
): Promise<State> => {
  requireNames(options, WAIT_OPTIONS, WAIT_MEANT)
  const { signal, patienceMs = PATIENCE_MS } = options
  const position: Position = {
    lastEventId: undefined,
    // One that no status has, so that the first read gets its response at once.
    etag: '"none"',
    contactAt: Date.now(),
    pauseMs: PAUSE_MS.min,
  }
  let failures = 0
  let way: Way = followed.streamPath === undefined ? 'waiting' : 'stream'
  for (;;)
    try {
      const read: typeof readStream = way === 'stream' ? readStream : readStatus(way)
      const end = await read(http, followed, position, signal)
      if (end !== undefined) return end
      failures = 0
    } catch (error) {
      signal?.throwIfAborted()
      if (!(error instanceof KilnError)) throw error
      const isClosed = CLOSED[way](error)
      const isAway = isPassing(error) && Date.now() - position.contactAt <= patienceMs
      if (!isClosed && !isAway) throw error
      failures += 1
      const waitMs = pauseAfter(http.retry, failures, error) ?? MAX_MS
      if (way !== 'plain' && (isClosed || failures >= ATTEMPTS)) [way, failures] = [NEXT[way], 0]
      if (!isClosed) await pause(waitMs, signal)
    }
}

interface Position {
  lastEventId: string | undefined
  etag: string | undefined
  /** When the service was last heard of. */
  contactAt: number
  /** Until the next read of a status that does not say when. */
  pauseMs: number
}

/** When the stream is rejected so, the status may still be read. */
const STREAMLESS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'streams_exceeded',
  'not_found',
  'method_not_allowed',
  'answer_unknown',
])

const isOf = ({ status = 0 }: KilnError, ...given: number[]): boolean => given.includes(status)

/** Says of each way when no second attempt helps, but the next way may. Of a service that is away a proxy says 502 and 503 of a stream, too. */
const CLOSED: Record<Way, (error: KilnError) => boolean> = {
  stream: (error) => STREAMLESS.has(error.code) && !isOf(error, 502, 503),
  waiting: (error) => error.code === 'answer_unknown' && isOf(error, 502, 504),
  plain: () => false,
}

/** A service may send others, now or later. */
const EVENTS: ReadonlySet<string> = new Set(['state', 'progress', 'end'])

/** Reads the stream until its end; undefined when it was closed before, after some events. */
const readStream = async <State>(
  http: Http,
  { streamPath = '', onEvent, readEnd }: Followed<State>,
  position: Position,
  signal: AbortSignal | undefined,
): Promise<State | undefined> => {
  const { lastEventId } = position
  const onContact = (): void => {
    position.contactAt = Date.now()
  }
  const options = { lastEventId, signal, onContact }
  const events = readServerSentEvents((init) => http.send(streamPath, init), options)
  for await (const { event = 'message', id, data } of events) {
    position.lastEventId = id ?? position.lastEventId
    if (!EVENTS.has(event)) continue
    const followEvent = { event, data: JSON.parse(data) as unknown }
    const end = readEnd(followEvent)
    if (end !== undefined) return end
    onEvent(followEvent)
  }
  signal?.throwIfAborted()
  if (position.lastEventId === lastEventId)
    throw new KilnError({ code: 'unreachable', message: 'the stream ended without an event' })
  return undefined
}

/** Reads the status, at its next change where that can be waited for; undefined when it is not the last. */
const readStatus =
  (way: 'waiting' | 'plain'): typeof readStream =>
  async (http, followed, position, outer) => {
    const { findStatusPath, onEvent, readEnd } = followed
    const path = await findStatusPath()
    const { etag } = position
    const headers = {
      ...(way === 'waiting' && { prefer: `wait=${WAIT_SECONDS}` }),
      ...(etag !== undefined && { 'if-none-match': etag }),
    }
    const response = await sendOnce(
      () =>
        sendWithin(WAIT_SECONDS * 2000, { signal: outer }, (signal) =>
          http.send(path, { headers, signal }),
        ),
      outer,
    )
    if (response instanceof KilnError) throw response
    position.contactAt = Date.now()
    if (response.status === 200) {
      position.etag = response.headers.get('etag') ?? undefined
      const followEvent: FollowEvent = { event: 'status', data: await response.json() }
      const end = readEnd(followEvent)
      if (end !== undefined) return end
      onEvent(followEvent)
    }
    if (response.headers.has('preference-applied')) return undefined
    const seconds = readRetryAfter(response)
    await pause(seconds === undefined ? position.pauseMs : seconds * 1000, outer)
    position.pauseMs = Math.min(PAUSE_MS.max, position.pauseMs * 1.5)
    return undefined
  }
