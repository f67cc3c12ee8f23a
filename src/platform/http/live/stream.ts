import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

import { Type } from 'typebox'

import { KNOWN_MS } from '../access/caller.ts'
import { toApiError } from '../serve/errors.ts'
import type { ResponseSpec, StreamResponse } from '../route.ts'
import type { LiveDeps, Waiting } from './prefer.ts'
import type { Watch } from './watches.ts'

/** One event of a stream, as server-sent events have it. */
export interface StreamEvent {
  event: 'state' | 'steps' | 'progress' | 'preview' | 'task' | 'end'
  /** Id that Last-Event-ID names to go on after it. */
  id?: string
  data: unknown
}

/** Reads what is new since the call before that did not throw. The event `end` is the last. */
export type ReadChanges = () => Promise<StreamEvent[]>

interface Followed {
  /** The task or version that is followed. */
  id: string
  read: ReadChanges
  /** True while what it reads may change with time alone: then it is read beside each comment. */
  changesByTime?: () => boolean
  /** For many tasks in one stream: rows whose changes wake it, too, and how often it polls. */
  many?: { ids: ReadonlySet<string>; leastMs: number; maxMs: number } | undefined
}

/** Proxies close what is silent for a minute; so do we not. */
const HEARTBEAT_MS = 15_000
/** After it the client comes back, with a credential that is still good. */
const LONGEST_MS = 3_600_000
/** A client that does not read is closed: the next one goes on where it was. */
const MAX_UNSENT = 65_536
const ERROR_PAUSE_MS = 1000

/**
 * Responds with a stream of what `read` finds, now and after each change, until the end. The first read comes before
 * the head is sent, so that what is not there is a plain 404. Throws what reading throws; the watch is always closed.
 */
export const respondWithStream = async (
  { watches, watchReadSemaphore }: LiveDeps,
  request: Waiting,
  { id, read, many, changesByTime = () => false }: Followed,
): Promise<StreamResponse> => {
  const watch = watches.open(id, request, request.signal(), many?.ids)
  const readChanges: ReadChanges = () => watchReadSemaphore.run(read)
  const first = await readChanges().catch((error: unknown) => {
    watch.close()
    throw error
  })
  return {
    stream: async (response) => {
      try {
        writeHead(response)
        const isAllowed = () => watchReadSemaphore.run(() => readPermission(request))
        if (response.req.method !== 'HEAD')
          await writeChanges(response, {
            watch,
            readChanges,
            first,
            many,
            changesByTime,
            isAllowed,
          })
      } finally {
        watch.close()
        response.end()
      }
    },
  }
}

/** The response to whoever has seen the end: 204, after which EventSource does not come back. */
export const STREAM_IS_OVER = { status: 204, headers: { 'cache-control': 'no-store' } }

/** The responses of a stream that has an end, for the documentation. */
export const STREAM_RESPONSES = {
  200: {
    description:
      'Events as they happen. `state` and `progress` report changes; `end` is the last, and then the stream closes. A comment comes every 15 seconds.',
    schema: Type.String(),
    mediaType: 'text/event-stream',
  },
  204: {
    description: 'Last-Event-ID names the end: there is nothing more, and no reason to come back.',
  },
} satisfies Record<number, ResponseSpec>

const writeHead = (response: ServerResponse): void => {
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    // A process that stops waits for its connections.
    connection: 'close',
    // nginx would hold back what it thinks is a page.
    'x-accel-buffering': 'no',
  })
  response.flushHeaders()
}

interface Writing {
  watch: Watch
  readChanges: ReadChanges
  first: StreamEvent[]
  many: Followed['many']
  changesByTime(): boolean
  isAllowed(): Promise<boolean>
}

const writeChanges = async (
  response: ServerResponse,
  { watch, readChanges, first, many, changesByTime, isAllowed }: Writing,
): Promise<void> => {
  const endsAt = performance.now() + LONGEST_MS
  let events: StreamEvent[] | undefined = first
  let wroteAt = performance.now()
  let readAt = wroteAt
  let allowedAt = wroteAt
  const write = (text: string): void => {
    response.write(text)
    wroteAt = performance.now()
  }
  // What was written in a turn before, and is still here, was not read.
  while (response.writableLength <= MAX_UNSENT && performance.now() < endsAt) {
    for (const event of events ?? []) write(format(event))
    if (events?.at(-1)?.event === 'end') return
    const preview = watch.takePreview()
    // Whoever has not read what came before gets the next one.
    if (preview !== undefined && response.writableLength === 0)
      write(format({ event: 'preview', data: { image: `data:image/webp;base64,${preview}` } }))
    const silentMs = wroteAt + HEARTBEAT_MS - performance.now()
    // While the database is away the stream stays, and looks again soon: not all streams at the same time.
    const pauseMs = events ? silentMs : ERROR_PAUSE_MS * (1 + Math.random())
    const maxMs = Math.min(pauseMs, KNOWN_MS, many?.maxMs ?? pauseMs)
    const notifyChange = await watch.next(Math.max(0, maxMs))
    if (notifyChange === 'over') return
    if (performance.now() - allowedAt >= KNOWN_MS) {
      if (!(await isAllowed())) return write(ENDED)
      allowedAt = performance.now()
    }
    const isBeatDue = performance.now() >= wroteAt + HEARTBEAT_MS
    if (isBeatDue) write(HEARTBEAT)
    if (many) await sleep(Math.max(0, readAt + many.leastMs - performance.now()))
    readAt = performance.now()
    const isTimed = isBeatDue && changesByTime()
    const isRead: boolean = notifyChange !== 'quiet' || !events || many !== undefined || isTimed
    events = isRead ? await readChanges().catch(toUnread) : []
  }
}

/** False once the credential has ended. While nobody can say, the stream goes on. */
const readPermission = (request: Waiting): Promise<boolean> =>
  request.reauthorise().then(
    () => true,
    (error: unknown) => toApiError(error).status === 503,
  )

const ENDED = ': the credential has ended\n\n'

const toUnread = (error: unknown): undefined => {
  if (toApiError(error).status !== 503) throw error
}

const HEARTBEAT = ': still here\n\n'

const format = ({ event, id, data }: StreamEvent): string => {
  const lines = [...(id === undefined ? [] : [`id: ${id}`]), `event: ${event}`]
  return `${[...lines, `data: ${JSON.stringify(data)}`].join('\n')}\n\n`
}
