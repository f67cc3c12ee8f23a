/** Work did not end within its time. It goes on, and its outcome is ignored. */
export class LateError extends Error {
  override name = 'LateError'
}

/** Waits for work, `ms` milliseconds at most. Throws a LateError that says what did not respond. */
export const inTime = async <T>(work: Promise<T>, ms: number, what: string): Promise<T> => {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new LateError(`${what} did not respond in ${ms} ms`)), ms)
  })
  // Its own end after that must not become an unhandled rejection.
  work.catch(() => {})
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
