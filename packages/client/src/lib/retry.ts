import { ArgumentError } from './argument.ts'
import { isPassing, KilnError, readError } from './errors.ts'
import { pause } from './pause.ts'

export interface RetryOptions {
  /** Most times that one call is sent. Default 6; 1 never retries. */
  attempts?: number
  /** Milliseconds before the second attempt; doubled for each further one, and shortened by up to half at random. Default 500. */
  baseMs?: number
}

export type Retry = Required<RetryOptions>

export const RETRY: Retry = { attempts: 6, baseMs: 500 }
export const MAX_MS = 15_000
/** More is not waited for. */
const MAX_RETRY_AFTER_SECONDS = 60

/** An error of a function or stream of the caller's own, which no further attempt mends: `cause` is thrown in its place. */
export class OwnError extends Error {}

/** Calls a function of the caller's own while a request is sent. */
export const callOwn = async <T>(own: () => T | Promise<T>): Promise<T> => {
  try {
    return await own()
  } catch (cause) {
    throw new OwnError(undefined, { cause })
  }
}

/** Sends until there is a success. Throws the KilnError that does not pass, or that of the last attempt, or the signal's reason. */
export const withRetries = async (
  retry: Retry,
  signal: AbortSignal | undefined,
  send: () => Promise<Response>,
): Promise<Response> => {
  for (let attempt = 1; ; attempt += 1) {
    const error = await sendOnce(send, signal)
    if (error instanceof Response) return error
    await pauseOrThrow(retry, attempt, error, signal)
  }
}

/** Sends until there is a success whose body has come whole; returns that. */
export const readWithRetries = async (
  retry: Retry,
  signal: AbortSignal | undefined,
  send: () => Promise<Response>,
): Promise<Uint8Array<ArrayBuffer>> => {
  let bytes = new Uint8Array()
  await withRetries(retry, signal, async () => {
    const response = await send()
    if (response.ok) bytes = new Uint8Array(await response.arrayBuffer())
    return response
  })
  return bytes
}

/** Waits until the next attempt. Throws the error where there is none. */
export const pauseOrThrow = async (
  retry: Retry,
  attempt: number,
  error: KilnError,
  signal: AbortSignal | undefined,
): Promise<void> => {
  const waitMs = pauseAfter(retry, attempt, error)
  if (!isPassing(error) || attempt >= retry.attempts || waitMs === undefined) throw error
  await pause(waitMs, signal)
}

/** Sends once; returns a success or its error. 304 is a success, because callers have asked for it. */
export const sendOnce = async (
  send: () => Promise<Response>,
  signal?: AbortSignal,
): Promise<Response | KilnError> => {
  try {
    const response = await send()
    return response.ok || response.status === 304 ? response : await readError(response)
  } catch (error) {
    signal?.throwIfAborted()
    if (error instanceof OwnError) throw error.cause
    if (error instanceof KilnError) return error
    if (error instanceof ArgumentError) throw error
    const message = `the service cannot be reached: ${reasonOf(error)}`
    return new KilnError({ code: 'unreachable', message, cause: error })
  }
}

/** Finds the message behind `fetch failed`. */
export const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  if (error.cause !== undefined) return reasonOf(error.cause)
  return error.message || ((error as { code?: string }).code ?? error.name)
}

/** Milliseconds until the next attempt; undefined when the service asks for more than is waited for. */
export const pauseAfter = (retry: Retry, attempt: number, error: KilnError): number | undefined => {
  const { retryAfterSeconds = 0 } = error
  if (retryAfterSeconds > MAX_RETRY_AFTER_SECONDS) return undefined
  const step = Math.min(MAX_MS, retry.baseMs * 2 ** (attempt - 1))
  return Math.max(retryAfterSeconds * 1000, step * (0.5 + Math.random() / 2))
}
