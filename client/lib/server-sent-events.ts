import { createParser } from 'eventsource-parser'
import type { EventSourceMessage } from 'eventsource-parser'

import { KilnError } from './errors.ts'

/** Reads server-sent events until the stream ends or the signal is aborted. `touch` is called whenever anything came, comments too. */
export async function* readServerSentEvents(
  body: ReadableStream<Uint8Array>,
  { touch, signal }: { touch: () => void; signal: AbortSignal },
): AsyncGenerator<EventSourceMessage, void> {
  const events: EventSourceMessage[] = []
  const parser = createParser({ onEvent: (event) => events.push(event) })
  const reader = body.getReader()
  const decoder = new TextDecoder()
  const stop = (): void => void reader.cancel().catch(() => {})
  signal.addEventListener('abort', stop, { once: true })
  try {
    for (;;) {
      const { done, value } = await reader.read().catch(toFault)
      if (done) return
      touch()
      parser.feed(decoder.decode(value, { stream: true }))
      yield* events.splice(0)
    }
  } finally {
    signal.removeEventListener('abort', stop)
    stop()
  }
}

const toFault = (cause: unknown): never => {
  throw new KilnError({ code: 'unreachable', message: 'the stream has broken', cause })
}
