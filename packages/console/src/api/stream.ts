import { useEffect, useEffectEvent } from 'react'

import { pause } from '../../../client/src/lib/pause.ts'
import { readServerSentEvents } from '../../../client/src/lib/server-sent-events.ts'
import { bearerOf, KilnError, sendRequest } from './client.ts'
import { onBack } from './health.ts'
import { session } from './session.ts'
import { waitMs } from './wait.ts'

interface StreamOptions {
  /** Path of the stream; undefined: none. */
  path: string | undefined
  /** Token that reads it in place of whoever is signed in. */
  token?: string | undefined
  onEvent(event: { event: string; data: unknown }): void
  /** Reads once where no stream gets through; may return the seconds until the next read. */
  poll(): Promise<number | void>
}

const ATTEMPTS = 3
const POLL_SECONDS = 5

/** One stream a tab. */
let closeCurrent: (() => void) | undefined

/** Follows what the page is about, while the tab is seen. */
export const useStream = ({ path, token, ...options }: StreamOptions): void => {
  const onEvent = useEffectEvent(options.onEvent)
  const poll = useEffectEvent(options.poll)
  useEffect(() => {
    if (path === undefined) return
    closeCurrent?.()
    const key = `kiln.stream ${token ?? session.get().user ?? ''} ${path}`
    const stream: Stream = {
      path,
      token,
      key,
      onEvent,
      poll,
      lastEventId: undefined,
      isOver: false,
    }
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
  }, [path, token])
}

interface Stream extends StreamOptions {
  path: string
  /** Name of the lock, and of what is passed on: a user's tabs that follow the same have the same. */
  key: string
  lastEventId: string | undefined
  isOver: boolean
}

/** An event that the tab which reads passes on. Without one: no stream gets through, and each tab reads once. */
interface Passed {
  key: string
  event?: { event: string; id: string | undefined; data: unknown }
}

const channel = new BroadcastChannel('kiln.stream')

/** Tabs that follow the same share one stream: that of the tab which has its lock. Another takes over when that one closes. */
const follow = async (stream: Stream, signal: AbortSignal): Promise<void> => {
  const { locks } = navigator as { locks?: LockManager }
  // Without TLS a browser has no locks, but on this machine.
  if (locks === undefined) return await read(stream, signal)
  const { key } = stream
  channel.addEventListener(
    'message',
    ({ data }: MessageEvent<Passed>) => {
      if (data.key !== key) return
      if (data.event) take(stream, data.event)
      else void stream.poll().catch(() => {})
    },
    { signal },
  )
  const isReader = await locks.request(key, { ifAvailable: true }, async (lock) => {
    if (lock) await read(stream, signal)
    return lock !== null
  })
  if (isReader || signal.aborted) return
  // What happened before this tab listened.
  void stream.poll().catch(() => {})
  await locks.request(key, { signal }, () => read(stream, signal)).catch(() => {})
}

const pass = ({ key }: Stream, event?: Passed['event']): void =>
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has one origin
  channel.postMessage({ key, event })

const take = (stream: Stream, { id, ...event }: NonNullable<Passed['event']>): void => {
  stream.lastEventId = id ?? stream.lastEventId
  stream.isOver = event.event === 'end'
  stream.onEvent(event)
}

/** Reads until it is over: resumed where it broke, polled where no stream gets through. */
const read = async (stream: Stream, signal: AbortSignal): Promise<void> => {
  for (let failures = 0; !signal.aborted && !stream.isOver;) {
    const before = stream.lastEventId
    const outcome = await inSlot(() => readOnce(stream, signal))
    if (outcome === 'over') stream.isOver = true
    failures = stream.lastEventId === before ? failures + 1 : 0
    if (outcome === 'unavailable' || failures >= ATTEMPTS) {
      pass(stream)
      const seconds = await stream.poll().catch(() => {})
      await wait((seconds ?? POLL_SECONDS) * 1000, signal)
    } else await wait(waitMs(failures), signal)
  }
}

/** Rests until then, or until nobody follows any more. */
const wait = (ms: number, signal: AbortSignal): Promise<void> => pause(ms, signal).catch(() => {})

/** Browsers open six connections to an origin over HTTP/1.1, over all tabs. Three at most are streams of different things; whoever follows another polls. */
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
  const { path, token, lastEventId } = stream
  const events = readServerSentEvents(
    ({ headers, signal }) => {
      const request = { headers: { ...headers, ...bearerOf(token) }, signal }
      return sendRequest(new Request(new URL(path, location.origin), request))
    },
    { lastEventId, signal },
  )
  try {
    for await (const { event = 'message', id, data } of events) {
      const passed = { event, id, data: JSON.parse(data) as unknown }
      pass(stream, passed)
      take(stream, passed)
      if (stream.isOver) return 'over'
    }
  } catch (error) {
    const { status = 500 } = error instanceof KilnError ? error : {}
    if (status === 204) return 'over'
    if (status < 500) return 'unavailable'
  }
  return 'broken'
}
