import { useEffect, useEffectEvent } from 'react'

import { pause } from '../../../client/src/lib/pause.ts'
import { readServerSentEvents } from '../../../client/src/lib/server-sent-events.ts'
import { KilnError, sendRequest, waitMs } from './client.ts'
import { onBack } from './health.ts'

interface StreamOptions {
  /** Path of the stream; undefined: none. */
  path: string | undefined
  onEvent(event: { event: string; data: unknown }): void
  /** Reads once where no stream gets through; may return the seconds until the next read. */
  poll(): Promise<number | void>
}

const ATTEMPTS = 3
const POLL_SECONDS = 5

/** One stream a tab: browsers open six connections to an origin, over all tabs. */
let closeCurrent: (() => void) | undefined

/** Follows what the page is about, while the tab is seen: resumed where it broke, polled where no stream gets through. */
export const useStream = ({ path, ...options }: StreamOptions): void => {
  const onEvent = useEffectEvent(options.onEvent)
  const poll = useEffectEvent(options.poll)
  useEffect(() => {
    if (path === undefined) return
    closeCurrent?.()
    const stream: Stream = { path, onEvent, poll, lastEventId: undefined, isOver: false }
    let running = new AbortController()
    const restart = (): void => {
      running.abort()
      running = new AbortController()
      if (!document.hidden) void follow(stream, running.signal)
    }
    document.addEventListener('visibilitychange', restart)
    const stopListening = onBack(restart)
    const close = (): void => {
      document.removeEventListener('visibilitychange', restart)
      stopListening()
      running.abort()
    }
    closeCurrent = close
    restart()
    return close
  }, [path])
}

type Stream = StreamOptions & { path: string; lastEventId: string | undefined; isOver: boolean }

const follow = async (stream: Stream, signal: AbortSignal): Promise<void> => {
  for (let failures = 0; !signal.aborted && !stream.isOver;) {
    const before = stream.lastEventId
    const outcome = await inSlot(() => readOnce(stream, signal))
    stream.isOver = outcome === 'over'
    failures = stream.lastEventId === before ? failures + 1 : 0
    if (outcome === 'unavailable' || failures >= ATTEMPTS) {
      const seconds = await stream.poll().catch(() => {})
      await wait((seconds ?? POLL_SECONDS) * 1000, signal)
    } else await wait(waitMs(failures), signal)
  }
}

/** Rests until then, or until nobody follows any more. */
const wait = (ms: number, signal: AbortSignal): Promise<void> => pause(ms, signal).catch(() => {})

/** Windows that are seen at once share what a browser has of connections: three of them have streams, the others poll. */
const SLOTS = ['kiln.stream.1', 'kiln.stream.2', 'kiln.stream.3']

const inSlot = async <T>(work: () => Promise<T>): Promise<T | 'unavailable'> => {
  const { locks } = navigator as { locks?: LockManager }
  // Without TLS a browser has no locks, but on this machine.
  if (locks === undefined) return await work()
  for (const slot of SLOTS) {
    const done = await locks.request(slot, { ifAvailable: true }, async (lock) =>
      lock === null ? undefined : { outcome: await work() },
    )
    if (done) return done.outcome
  }
  return 'unavailable'
}

/** Reads a stream until it ends. over: nothing more comes. unavailable: there is none here. */
const readOnce = async (stream: Stream, signal: AbortSignal) => {
  const { path, lastEventId, onEvent } = stream
  const events = readServerSentEvents(
    (init) => sendRequest(new Request(new URL(path, location.origin), init)),
    { lastEventId, signal },
  )
  try {
    for await (const { event = 'message', id, data } of events) {
      stream.lastEventId = id ?? stream.lastEventId
      onEvent({ event, data: JSON.parse(data) as unknown })
      if (event === 'end') return 'over'
    }
  } catch (error) {
    const { status = 500 } = error instanceof KilnError ? error : {}
    if (status === 204) return 'over'
    if (status < 500) return 'unavailable'
  }
  return 'broken'
}
