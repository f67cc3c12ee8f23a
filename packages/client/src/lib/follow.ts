import { isPassing, KilnError, readRetryAfter } from './errors.ts'
import type { ErrorCode } from './errors.ts'
import type { Http } from './http.ts'
import { pause, within } from './pause.ts'
import { MAX_MS, pauseAfter, withRetries } from './retry.ts'
import { readServerSentEvents } from './server-sent-events.ts'

export interface FollowOptions {
  signal?: AbortSignal | undefined
  /** Milliseconds for which the service may be away before waiting fails. Default 300,000. */
  patienceMs?: number | undefined
}

/** Task or version that is followed until its end. */
export interface Followed<State> {
  /** Path of its stream. */
  streamPath: string
  /** Path of its status; found when it is needed. */
  findStatusPath(): Promise<string>
  /** Called with each response of its status and each event of its stream. */
  onEvent(followEvent: FollowEvent): void
  /** Returns the state in a response or an event, once it is the last. */
  readEnd(followEvent: FollowEvent): State | undefined
}

type FollowEvent = { event: string; data: unknown }

const PATIENCE_MS = 300_000
/** Streams that break without an event, before the status is read instead. */
const STREAM_ATTEMPTS = 3
/** Seconds within which a waiting read gets its response. */
const WAIT_SECONDS = 30

/** Waits for an end by the stream; by `Prefer: wait` where a proxy or a limit lets none through; else as often as Retry-After says. */
export const follow = async <State>(
  http: Http,
  followed: Followed<State>,
  { signal, patienceMs = PATIENCE_MS }: FollowOptions = {},
): Promise<State> => {
  const position: Position = { lastEventId: undefined, etag: undefined, contactAt: Date.now() }
  let failures = 0
  let readFrom = readStream
  for (;;)
    try {
      const end = await readFrom(http, followed, position, signal)
      if (end !== undefined) return end
      failures = 0
    } catch (error) {
      signal?.throwIfAborted()
      const isStreamless =
        readFrom === readStream && error instanceof KilnError && STREAMLESS.has(error.code)
      const isAway = isPassing(error) && Date.now() - position.contactAt <= patienceMs
      if (!isStreamless && !isAway) throw error
      failures += 1
      if (isStreamless || failures >= STREAM_ATTEMPTS) readFrom = readStatus
      if (!isStreamless && isPassing(error))
        await pause(pauseAfter(http.retry, failures, error) ?? MAX_MS, signal)
    }
}

interface Position {
  lastEventId: string | undefined
  etag: string | undefined
  /** When the service was last heard of. */
  contactAt: number
}

/** When the stream is rejected so, the status may still be read. */
const STREAMLESS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'streams_exceeded',
  'not_found',
  'method_not_allowed',
  'answer_unknown',
])

/** A service may send others, now or later. */
const EVENTS: ReadonlySet<string> = new Set(['state', 'progress', 'end'])

/** Reads the stream until its end; undefined when it was closed before, after some events. */
const readStream = async <State>(
  http: Http,
  { streamPath, onEvent, readEnd }: Followed<State>,
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

/** Reads the status at its next change; undefined when it is not the last. */
const readStatus: typeof readStream = async (http, followed, position, outer) => {
  const { findStatusPath, onEvent, readEnd } = followed
  const path = await findStatusPath()
  const { etag } = position
  const known: Record<string, string> = etag === undefined ? {} : { 'if-none-match': etag }
  const headers = { prefer: `wait=${WAIT_SECONDS}`, ...known }
  const response = await withRetries(http.retry, outer, () =>
    within(WAIT_SECONDS * 2000, outer, (signal) => http.send(path, { headers, signal })),
  )
  position.contactAt = Date.now()
  if (response.status === 200) {
    position.etag = response.headers.get('etag') ?? undefined
    const followEvent: FollowEvent = { event: 'status', data: await response.json() }
    const end = readEnd(followEvent)
    if (end !== undefined) return end
    onEvent(followEvent)
  }
  const applied = response.headers.has('preference-applied')
  await pause(applied ? 0 : (readRetryAfter(response) ?? 2) * 1000, outer)
  return undefined
}
