import assert from 'node:assert/strict'

import { PATIENCE_MS } from './patience.ts'

interface ReceivedEvent {
  event: string
  id?: string
  data: Record<string, unknown>
}

/** Opens a stream of server-sent events, which must be one. */
export const openStream = async (url: string, headers: Record<string, string> = {}) => {
  const closing = new AbortController()
  // A stream that never ends fails its test and not the run.
  const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(PATIENCE_MS)])
  const response = await fetch(url, { headers, signal })
  assert.equal(response.status, 200, `status ${response.status}`)
  assert.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8')
  assert.equal(response.headers.get('cache-control'), 'no-store')
  const events = readEvents(response)
  /** The next event; undefined when the stream has ended. Comments are passed over. */
  const next = async (): Promise<ReceivedEvent | undefined> => {
    const { done, value } = await events.next()
    return done ? undefined : value
  }
  return {
    next,
    /** The rest of the events, until the end. */
    async rest() {
      const all: ReceivedEvent[] = []
      for await (const event of events) all.push(event)
      return all
    },
    [Symbol.asyncDispose]: async () => closing.abort(),
  }
}

async function* readEvents({ body }: Response): AsyncGenerator<ReceivedEvent> {
  let text = ''
  for await (const piece of (body as ReadableStream<Uint8Array>).pipeThrough(
    new TextDecoderStream(),
  )) {
    text += piece
    const blocks = text.split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) if (!block.startsWith(':')) yield parse(block)
  }
  assert.equal(text, '', 'the stream ended within an event')
}

const parse = (block: string): ReceivedEvent => {
  const { data = 'null', ...fields } = Object.fromEntries(
    block.split('\n').map((line) => /^(\w+): (.*)$/.exec(line)?.slice(1) as [string, string]),
  )
  return { ...(fields as { event: string; id?: string }), data: JSON.parse(data) }
}
