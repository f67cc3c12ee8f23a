export interface ServerSentEvent {
  event: string
  id: string | undefined
  data: string
}

/**
 * Reads the events of a stream of them, until it ends or the signal is aborted; comments are passed over. `touch` is called
 * whenever anything came. An event whose end did not come is dropped.
 */
export async function* readServerSentEvents(
  body: ReadableStream<Uint8Array>,
  { touch, signal }: { touch: () => void; signal: AbortSignal },
): AsyncGenerator<ServerSentEvent, void> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  const stop = (): void => void reader.cancel().catch(() => {})
  signal.addEventListener('abort', stop, { once: true })
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      touch()
      text += decoder.decode(value, { stream: true })
      const blocks = text.split(/\r?\n\r?\n/)
      text = blocks.pop() ?? ''
      for (const block of blocks) {
        const event = parse(block)
        if (event) yield event
      }
    }
  } finally {
    signal.removeEventListener('abort', stop)
    stop()
  }
}

const parse = (block: string): ServerSentEvent | undefined => {
  const fields = block.split(/\r?\n/).map((line) => /^(\w+): ?(.*)$/.exec(line) ?? [])
  const lines = (name: string): string[] =>
    fields.filter(([, field]) => field === name).map(([, , value = '']) => value)
  const data = lines('data')
  if (data.length === 0) return undefined
  return {
    event: lines('event').at(-1) ?? 'message',
    id: lines('id').at(-1),
    data: data.join('\n'),
  }
}
