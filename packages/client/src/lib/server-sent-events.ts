import { createParser } from 'eventsource-parser'
import type { EventSourceMessage } from 'eventsource-parser'

import { KilnError } from './errors.ts'
import { sendOnce } from './retry.ts'

type Init = { headers: Record<string, string>; signal: AbortSignal }

interface StreamOptions {
  /** Id of the event at which an earlier read broke off. */
  lastEventId: string | undefined
  signal: AbortSignal | undefined
  /** Called whenever anything came, comments too. */
  onContact?: () => void
}

/** The service sends something every 15 seconds, or 22 while it has no database. */
const SILENT_MS = 25_000

/**
 * Opens a stream and reads it until it ends, nothing comes any more or the signal is aborted. Throws the KilnError of a
 * rejection or a break, and `answer_unknown` where nothing came at all: it is kept back on its way.
 */
export async function* readServerSentEvents(
  send: (init: Init) => Promise<Response>,
  { lastEventId, signal: outer, onContact }: StreamOptions,
): AsyncGenerator<EventSourceMessage, void> {
  const open = new AbortController()
  const stop = (): void => open.abort(outer?.reason)
  const kept = new KilnError({ code: 'answer_unknown', message: 'nothing came of the stream' })
  let timer = setTimeout(() => open.abort(kept), SILENT_MS)
  outer?.addEventListener('abort', stop)
  // Whoever read may be gone before the stream was to open.
  if (outer?.aborted) stop()
  try {
    const known: Record<string, string> =
      lastEventId === undefined ? {} : { 'last-event-id': lastEventId }
    const headers = { accept: 'text/event-stream', ...known }
    const reader = bodyOf(await sendOnce(() => send({ headers, signal: open.signal }))).getReader()
    open.signal.addEventListener('abort', () => void reader.cancel().catch(() => {}))
    const events: EventSourceMessage[] = []
    const parser = createParser({ onEvent: (event) => events.push(event) })
    const decoder = new TextDecoder()
    for (;;) {
      const { done, value } = await reader
        .read()
        .catch((cause: unknown) => toError(open.signal.reason ?? cause))
      if (open.signal.reason === kept) throw kept
      if (done) return
      onContact?.()
      clearTimeout(timer)
      timer = setTimeout(stop, SILENT_MS)
      parser.feed(decoder.decode(value, { stream: true }))
      yield* events.splice(0)
    }
  } finally {
    clearTimeout(timer)
    outer?.removeEventListener('abort', stop)
    stop()
  }
}

const bodyOf = (response: Response | KilnError): ReadableStream<Uint8Array> => {
  if (response instanceof KilnError) throw response
  const { body, headers, status, url } = response
  if (body && headers.get('content-type')?.startsWith('text/event-stream')) return body
  throw new KilnError({ code: 'answer_unknown', message: `${url} is no stream`, status })
}

const toError = (cause: unknown): never => {
  if (cause instanceof KilnError) throw cause
  throw new KilnError({ code: 'unreachable', message: 'the stream has broken', cause })
}
