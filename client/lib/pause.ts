/** Waits. Throws the signal's reason when it is aborted meanwhile. */
export const pause = async (ms: number, signal?: AbortSignal): Promise<void> => {
  signal?.throwIfAborted()
  await new Promise<void>((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer)
      // The reason is whatever the caller has given.
      // oxlint-disable-next-line typescript/prefer-promise-reject-errors
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal?.addEventListener('abort', stop, { once: true })
  })
}

/**
 * Works with a signal that is aborted after some time, or with `outer`. AbortSignal.any() would do, but Node 20 forgets what it
 * made when nothing else holds it.
 */
export const within = async <T>(
  ms: number,
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  outer?.throwIfAborted()
  const own = new AbortController()
  const stop = (): void => own.abort(outer?.reason)
  const timer = setTimeout(() => own.abort(new Error(`no answer within ${ms / 1000} s`)), ms)
  outer?.addEventListener('abort', stop)
  try {
    return await work(own.signal)
  } finally {
    clearTimeout(timer)
    outer?.removeEventListener('abort', stop)
  }
}
