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

/** Reads the body of JSON or an error, which then has come before its deadline, too. All else may be a stream without an end. */
export const readWhole = async (response: Response): Promise<Response> => {
  if (!response.ok || /\bjson\b/.test(response.headers.get('content-type') ?? ''))
    await response.clone().arrayBuffer()
  return response
}

/** Works with a signal that is aborted after some time or with `outer`. Node 20 collects those of AbortSignal.any() too early. */
export const within = async <T>(
  ms: number,
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  outer?.throwIfAborted()
  const own = new AbortController()
  const stop = (): void => own.abort(outer?.reason)
  const timer = setTimeout(() => own.abort(new Error(`no response within ${ms / 1000} s`)), ms)
  outer?.addEventListener('abort', stop)
  try {
    return await work(own.signal)
  } finally {
    clearTimeout(timer)
    outer?.removeEventListener('abort', stop)
  }
}
