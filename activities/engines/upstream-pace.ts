import type { UpstreamResponse } from '../../src/engines/upstream/upstream.ts'

interface Pace {
  firstMs: number
  factor: number
  maxMs: number
}

export const SUBMIT_PACE: Pace = { firstMs: 1000, factor: 2, maxMs: 30_000 }
export const POLL_PACE: Pace = { firstMs: 1000, factor: 1.5, maxMs: 15_000 }

/** Makes the waits before next requests: longer each time, and as long as the upstream asks for. */
export const makePace = ({ firstMs, factor, maxMs }: Pace) => {
  let waitMs = firstMs
  return {
    next(response: UpstreamResponse | undefined): number {
      const wait = Math.max(waitMs, response?.retryAfterMs ?? 0)
      waitMs = Math.min(waitMs * factor, maxMs)
      return wait
    },
  }
}

/** A submission that has begun may be taken, so it has this time to say under which id. */
const LINGER_MS = 10_000

/** A signal that is aborted some time after another one. */
export const linger = (signal: AbortSignal) => {
  const late = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const start = (): void => {
    timer = setTimeout(() => late.abort(signal.reason), LINGER_MS)
  }
  signal.addEventListener('abort', start)
  return {
    signal: late.signal,
    stop(): void {
      signal.removeEventListener('abort', start)
      clearTimeout(timer)
    },
  }
}
