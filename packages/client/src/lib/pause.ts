import { passOn } from './bytes.ts'

/** Waits. Throws the signal's reason when it is aborted before the end. */
export const pause = async (ms: number, signal?: AbortSignal): Promise<void> => {
  signal?.throwIfAborted()
  await new Promise<void>((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal?.addEventListener('abort', end)
  })
  signal?.throwIfAborted()
}

/** Works with a signal that is aborted after some time or with `outer`. */
export const within = async <T>(
  ms: number,
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  const link = linkSignal(ms, { signal: outer })
  try {
    return await work(link.signal)
  } finally {
    link.stopTimer()
    link.unlink()
  }
}

/**
 * Sends with a signal that is aborted after some time or with that of `owner`. The time is that of the head and of what
 * `readWhole` reads; another body may be a stream without an end, which the owner's signal still ends.
 */
export const sendWithin = async (
  ms: number,
  owner: Owner,
  send: (signal: AbortSignal) => Promise<Response>,
): Promise<Response> => {
  const link = linkSignal(ms, owner)
  let isOpen = false
  try {
    const response = await readWhole(await send(link.signal))
    isOpen = !isWhole(response) && response.body !== null
    return isOpen ? passBody(response, link) : response
  } finally {
    link.stopTimer()
    if (!isOpen) link.unlink()
  }
}

/** Reads the body of JSON or an error, which then is there or an error of its request. */
export const readWhole = async (response: Response): Promise<Response> => {
  if (isWhole(response)) await response.clone().arrayBuffer()
  return response
}

/** True of a body that is read at once: of JSON, an error or nothing. All else may be a stream without an end. */
const isWhole = ({ ok, status, headers }: Response): boolean =>
  !ok ||
  // Chromium has an empty stream there, of which no other response may be made.
  status === 204 ||
  headers.get('content-length') === '0' ||
  /\bjson\b/.test(headers.get('content-type') ?? '')

/** `fetch` of Node 20 forgets its signal once the garbage of a body that goes on was collected. */
const passBody = (
  response: Response,
  { signal, unlink }: Pick<ReturnType<typeof linkSignal>, 'signal' | 'unlink'>,
): Response => {
  const body = passOn(response.body as ReadableStream<Uint8Array>, unlink, signal)
  const passed = new Response(body, response)
  return Object.defineProperty(passed, 'url', { value: response.url })
}

/** Whoever has a signal: a Request that nobody holds is collected, and ends its signal's link to that of the caller. */
interface Owner {
  signal: AbortSignal | undefined
}

/** Makes a signal that is aborted after some time or with that of `owner`. Node 20 collects those of AbortSignal.any() too early. */
const linkSignal = (ms: number, owner: Owner) => {
  owner.signal?.throwIfAborted()
  const own = new AbortController()
  const stop = (): void => own.abort(owner.signal?.reason)
  const timer = setTimeout(() => own.abort(new Error(`no response within ${ms / 1000} s`)), ms)
  owner.signal?.addEventListener('abort', stop)
  return {
    signal: own.signal,
    stopTimer: (): void => clearTimeout(timer),
    unlink: (): void => owner.signal?.removeEventListener('abort', stop),
  }
}
