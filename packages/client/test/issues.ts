/** Interceptor: replaces, changes or passes on the request that `send` sends, whose signal it gets. */
export type OnTheWay = (
  send: () => Promise<Response>,
  signal?: AbortSignal | null,
) => Promise<Response>

/** Makes a `fetch` whose first requests go through the interceptors, one each; `seen` are all that were sent. */
export const makeFaultyFetch = (...interceptors: OnTheWay[]) => {
  const seen: Request[] = []
  const faulty: typeof fetch = async (input, init) => {
    // A body that is a stream can be read once.
    const { body: _, ...head } = init ?? {}
    seen.push(input instanceof Request ? input.clone() : new Request(input, head))
    const send = () => fetch(input, init)
    return await (interceptors.shift() ?? ((go) => go()))(send, init?.signal)
  }
  return { fetch: faulty, seen }
}

/** A rejection as the service words it. */
export const reject =
  (status: number, error: string, headers: Record<string, string> = {}): OnTheWay =>
  () =>
    Promise.resolve(
      Response.json(
        { error, message: `rejected: ${error}`, request_id: 'test' },
        { status, headers: { 'retry-after': '0', ...headers } },
      ),
    )

/** Loses the response of a request that the service has carried out. */
export const loseResponse: OnTheWay = async (send) => {
  await (await send()).arrayBuffer()
  throw new TypeError('fetch failed')
}

/** A response whose head comes, and whose body does not. @param onRead called once it is waited for */
export const holdBody =
  (contentType: string, onRead: () => void): OnTheWay =>
  (_send, signal) => {
    const source = {
      start: (held: ReadableStreamDefaultController) =>
        signal?.addEventListener('abort', () => held.error(signal.reason)),
      pull: onRead,
    }
    // Otherwise it is read ahead.
    const body = new ReadableStream(source, { highWaterMark: 0 })
    return Promise.resolve(new Response(body, { headers: { 'content-type': contentType } }))
  }

/** Passes the first event of a stream on, then ends it. */
export const cutAfterFirstEvent: OnTheWay = async (send) => {
  const { body, status, headers } = await send()
  let text = ''
  for await (const piece of (body as ReadableStream<Uint8Array>).pipeThrough(
    new TextDecoderStream(),
  ))
    if ((text += piece).includes('\n\n')) break
  return new Response(text.slice(0, text.indexOf('\n\n') + 2), { status, headers })
}
