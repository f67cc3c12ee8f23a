import { isPassing, KilnError, readFault } from './errors.ts'
import { pause } from './pause.ts'

export interface RetryOptions {
  /** Most times that one call is sent. Default 6; 1 never retries. */
  attempts?: number
  /** Milliseconds before the second attempt; doubled for each further one, and shortened by up to half at random. Default 500. */
  baseMs?: number
  /** Most milliseconds between two attempts, but for a Retry-After. Default 15,000. */
  mostMs?: number
  /** A Retry-After of more seconds than this is not waited for: the call fails at once. Default 60. */
  mostRetryAfterSeconds?: number
}

export type Retry = Required<RetryOptions>

export const RETRY: Retry = { attempts: 6, baseMs: 500, mostMs: 15_000, mostRetryAfterSeconds: 60 }

/**
 * Sends until there is a success, or a fault that does not pass, or no attempt is left. Throws a KilnError, or the reason of
 * the signal when it is aborted.
 */
export const withRetries = async (
  retry: Retry,
  signal: AbortSignal | undefined,
  send: () => Promise<Response>,
): Promise<Response> => {
  for (let attempt = 1; ; attempt += 1) {
    const fault = await sendOnce(send, signal)
    if (fault instanceof Response) return fault
    const waitMs = pauseAfter(retry, attempt, fault)
    if (!isPassing(fault) || attempt >= retry.attempts || waitMs === undefined) throw fault
    await pause(waitMs, signal)
  }
}

/** Sends once; answers a success or why it is none. 304 is a success, because callers have asked for it. */
export const sendOnce = async (
  send: () => Promise<Response>,
  signal?: AbortSignal,
): Promise<Response | KilnError> => {
  try {
    const response = await send()
    return response.ok || response.status === 304 ? response : await readFault(response)
  } catch (error) {
    signal?.throwIfAborted()
    if (error instanceof KilnError) return error
    return new KilnError({
      code: 'unreachable',
      message: `the service cannot be reached: ${reasonOf(error)}`,
      cause: error,
    })
  }
}

/** What lies behind `fetch failed`. */
const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  if (error.cause !== undefined) return reasonOf(error.cause)
  return error.message || ((error as { code?: string }).code ?? error.name)
}

/** Milliseconds until the next attempt; undefined when the service asks for more than is waited for. */
export const pauseAfter = (
  { baseMs, mostMs, mostRetryAfterSeconds }: Retry,
  attempt: number,
  { retryAfterSeconds = 0 }: KilnError,
): number | undefined => {
  if (retryAfterSeconds > mostRetryAfterSeconds) return undefined
  const step = Math.min(mostMs, baseMs * 2 ** (attempt - 1))
  return Math.max(retryAfterSeconds * 1000, step * (0.5 + Math.random() / 2))
}
