import { isPassing, KilnError, readRetryAfter } from './errors.ts'
import type { Http } from './http.ts'
import { pause, within } from './pause.ts'
import { pauseAfter, sendOnce, withRetries } from './retry.ts'
import { readServerSentEvents } from './server-sent-events.ts'

export interface FollowOptions {
  signal?: AbortSignal | undefined
  /** Milliseconds for which the service may be away before waiting fails. Default 300,000. */
  patienceMs?: number | undefined
}

/** What is followed until its end: a task or a version. */
export interface Followed<State> {
  /** Path of its stream. */
  streamPath: string
  /** Path of its status; found when it is needed. */
  findStatusPath(): Promise<string>
  /** What an answer of its status, or an event of its stream, tells. */
  onNews(news: { event: string; data: unknown }): void
  /** The state in an answer or an event, once it is the last. */
  readEnd(news: { event: string; data: unknown }): State | undefined
}

/** The service sends something every 15 seconds. */
const SILENT_MS = 45_000
const PATIENCE_MS = 300_000
/** Streams that break without news, before the status is read instead. */
const STREAM_TRIES = 3
/** A waiting read is answered within this. */
const WAIT_SECONDS = 30

/**
 * Waits for an end by the stream. Where that is not to be had, because of a proxy, a limit or an older service, it reads the
 * status with `Prefer: wait`, and where that is not applied, as often as Retry-After says. It outlives a service that is away
 * for a while. Throws the KilnError of a fault that does not pass.
 */
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
      const fault = error instanceof KilnError ? error : unreadable(error)
      if (readFrom === readStream && (!isPassing(fault) || isFull(fault))) {
        if (!isStreamless(fault)) throw fault
        readFrom = readStatus
        continue
      }
      if (!isPassing(fault) || Date.now() - position.contactAt > patienceMs) throw fault
      failures += 1
      if (failures >= STREAM_TRIES) readFrom = readStatus
      await pause(pauseAfter(http.retry, failures, fault) ?? http.retry.mostMs, signal)
    }
}

interface Position {
  lastEventId: string | undefined
  etag: string | undefined
  /** When the service was last heard of. */
  contactAt: number
}

const unreadable = (cause: unknown): KilnError =>
  new KilnError({ code: 'unreachable', message: 'the stream has broken', cause })

const isFull = ({ code }: KilnError): boolean => code === 'streams_exceeded'

/** Whether the status may still be read when the stream is refused so. */
const isStreamless = ({ code }: KilnError): boolean =>
  ['streams_exceeded', 'not_found', 'method_not_allowed', 'answer_unknown'].includes(code)

/** Reads the stream until its end; undefined when it was closed before, after some news. */
const readStream = async <State>(
  http: Http,
  { streamPath, onNews, readEnd }: Followed<State>,
  position: Position,
  outer: AbortSignal | undefined,
): Promise<State | undefined> => {
  const { lastEventId } = position
  const open = new AbortController()
  const stop = (): void => open.abort(outer?.reason)
  let timer = setTimeout(stop, SILENT_MS)
  const touch = (): void => {
    position.contactAt = Date.now()
    clearTimeout(timer)
    timer = setTimeout(stop, SILENT_MS)
  }
  outer?.addEventListener('abort', stop)
  try {
    const body = await openStream(http, { streamPath, lastEventId, signal: open.signal })
    for await (const { event, id, data } of readServerSentEvents(body, {
      touch,
      signal: open.signal,
    })) {
      const news = { event, data: JSON.parse(data) as unknown }
      position.lastEventId = id ?? position.lastEventId
      const end = readEnd(news)
      if (end !== undefined) return end
      onNews(news)
    }
    outer?.throwIfAborted()
    if (position.lastEventId === lastEventId) throw unreadable(undefined)
    return undefined
  } finally {
    clearTimeout(timer)
    outer?.removeEventListener('abort', stop)
    stop()
  }
}

interface Opened {
  streamPath: string
  lastEventId: string | undefined
  signal: AbortSignal
}

const openStream = async (
  http: Http,
  { streamPath, lastEventId, signal }: Opened,
): Promise<ReadableStream<Uint8Array>> => {
  const headers = {
    accept: 'text/event-stream',
    ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
  }
  const response = await sendOnce(() => http.send(streamPath, { headers, signal }))
  if (response instanceof KilnError) throw response
  if (response.body && response.headers.get('content-type')?.startsWith('text/event-stream'))
    return response.body
  const { status } = response
  throw new KilnError({ code: 'answer_unknown', message: `${streamPath} is no stream`, status })
}

/** Reads the status at its next change; undefined when it is not the last. */
const readStatus: typeof readStream = async (
  http,
  { findStatusPath, onNews, readEnd },
  position,
  outer,
) => {
  const path = await findStatusPath()
  const { etag } = position
  const headers = {
    prefer: `wait=${WAIT_SECONDS}`,
    ...(etag === undefined ? {} : { 'if-none-match': etag }),
  }
  const response = await withRetries(http.retry, outer, () =>
    within(WAIT_SECONDS * 2000, outer, (signal) => http.send(path, { headers, signal })),
  )
  position.contactAt = Date.now()
  if (response.status === 200) {
    position.etag = response.headers.get('etag') ?? undefined
    const data: unknown = await response.json()
    const news = { event: 'status', data }
    const end = readEnd(news)
    if (end !== undefined) return end
    onNews(news)
  }
  const applied = response.headers.has('preference-applied')
  await pause(applied ? 0 : (readRetryAfter(response) ?? 2) * 1000, outer)
  return undefined
}
