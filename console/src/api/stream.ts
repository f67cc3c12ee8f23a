import { useEffect, useEffectEvent } from 'react'

import { pause } from '../../../client/lib/pause.ts'
import { readServerSentEvents } from '../../../client/lib/server-sent-events.ts'
import { sendRequest } from './client.ts'
import { onBack } from './health.ts'

interface StreamOptions {
  /** Path of the stream; undefined: none. */
  path: string | undefined
  onEvent(event: { event: string; data: unknown }): void
  /** Reads once where no stream gets through; answers the seconds until the next read. */
  poll?: () => Promise<number | undefined>
}

/** The service sends something every 15 seconds. */
const SILENT_MS = 45_000
const WAITS_MS = [1000, 2000, 4000, 8000, 15_000]
const TRIES = 3
const POLL_SECONDS = 5

/** One stream a tab: browsers open six connections to an origin, over all tabs. */
let closeCurrent: (() => void) | undefined

/** Follows what the page is about, while the tab is seen: resumed where it broke, polled where no stream gets through. */
export const useStream = ({ path, ...options }: StreamOptions): void => {
  const onEvent = useEffectEvent(options.onEvent)
  const poll = useEffectEvent(async () => await options.poll?.())
  useEffect(() => {
    if (path === undefined) return
    closeCurrent?.()
    const position: Position = { lastEventId: undefined, isOver: false }
    let running: AbortController | undefined
    const restart = (): void => {
      running?.abort()
      running = new AbortController()
      if (!document.hidden && !position.isOver)
        void follow({ path, onEvent, poll, position, signal: running.signal })
    }
    document.addEventListener('visibilitychange', restart)
    const stopListening = onBack(restart)
    const close = (): void => {
      document.removeEventListener('visibilitychange', restart)
      stopListening()
      running?.abort()
    }
    closeCurrent = close
    restart()
    return close
  }, [path])
}

interface Position {
  lastEventId: string | undefined
  isOver: boolean
}

interface Following extends Required<StreamOptions> {
  path: string
  position: Position
  signal: AbortSignal
}

const follow = async (following: Following): Promise<void> => {
  const { poll, position, signal } = following
  for (let failures = 0; !signal.aborted && !position.isOver;) {
    const before = position.lastEventId
    const outcome = await inSlot(() => readOnce(following)).catch(() => 'broken' as const)
    if (outcome === 'over') position.isOver = true
    failures = position.lastEventId === before ? failures + 1 : 0
    if (outcome === 'refused' || failures >= TRIES) {
      const seconds = await poll().catch(() => undefined)
      await wait((seconds ?? POLL_SECONDS) * 1000, signal)
    } else await wait(WAITS_MS[Math.min(failures, WAITS_MS.length - 1)] ?? 0, signal)
  }
}

/** Rests until then, or until nobody follows any more. */
const wait = (ms: number, signal: AbortSignal): Promise<void> => pause(ms, signal).catch(() => {})

/** Windows that are seen at once share what a browser has of connections: three of them have streams, the others poll. */
const SLOTS = ['kiln.stream.1', 'kiln.stream.2', 'kiln.stream.3']

const inSlot = async <T>(work: () => Promise<T>): Promise<T | 'refused'> => {
  const { locks } = navigator as { locks?: LockManager }
  // Without TLS a browser has no locks, but on this machine.
  if (locks === undefined) return await work()
  for (const slot of SLOTS) {
    const done = await locks.request(slot, { ifAvailable: true }, async (lock) =>
      lock === null ? undefined : { outcome: await work() },
    )
    if (done) return done.outcome
  }
  return 'refused'
}

/** Reads one stream to its end. over: nothing more comes. refused: there is no stream here. */
const readOnce = async (following: Following): Promise<'over' | 'refused' | 'broken'> => {
  const { path, onEvent, position, signal } = following
  const open = new AbortController()
  const stop = (): void => open.abort()
  signal.addEventListener('abort', stop)
  let timer = setTimeout(stop, SILENT_MS)
  const touch = (): void => {
    clearTimeout(timer)
    timer = setTimeout(stop, SILENT_MS)
  }
  try {
    const known = position.lastEventId
    const headers = {
      accept: 'text/event-stream',
      ...(known === undefined ? {} : { 'last-event-id': known }),
    }
    const request = new Request(new URL(path, location.origin), { headers, signal: open.signal })
    const response = await sendRequest(request)
    if (response.status === 204) return 'over'
    if (!response.ok || !response.body) return response.status < 500 ? 'refused' : 'broken'
    for await (const { event = 'message', id, data } of readServerSentEvents(response.body, {
      touch,
      signal: open.signal,
    })) {
      position.lastEventId = id ?? position.lastEventId
      onEvent({ event, data: JSON.parse(data) as unknown })
      if (event === 'end') return 'over'
    }
    return 'broken'
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
    stop()
  }
}
