import type { Readable } from 'node:stream'

import { apiError } from '../domain/errors.ts'
import { watchPace, type Pace } from './pace.ts'

export interface SourceOptions {
  /** Bytes on the wire. */
  maxBytes: number
  /** From now to the last byte. */
  deadlineMs: number
  pace: Pace
  /** Called with the length of each piece. What it throws is thrown as it is. */
  onBytes?: (bytes: number) => void
  /** Its reason is thrown as it is. */
  signal?: AbortSignal | undefined
}

/** The bytes of a request, pulled. */
export interface BodySource {
  /**
   * The next piece; undefined after the last one.
   *
   * @throws 413 `body_too_large`, 408 `request_timeout` (deadline or pace), 400 `bad_request` when the client went away.
   */
  next: () => Promise<Buffer | undefined>
  /** Bytes so far. */
  received: () => number
  /** Stops the clocks and leaves the request paused and undestroyed, so that a response can still be sent. */
  close: () => void
}

/**
 * Pulls, and never lets the request flow: a flowing socket hands over up to 2 MiB in one turn of the event loop, a
 * pulled one a single read of 64 KiB. The async iterator of the stream would do the same, but its wait cannot be ended
 * by a clock without destroying the socket, and with it the response.
 */
export const openBodySource = (request: Readable, options: SourceOptions): BodySource => {
  let received = 0
  let failure: { error: unknown } | undefined
  let wake: (() => void) | undefined

  const fail = (error: unknown) => {
    failure ??= { error }
    wake?.()
  }
  const check = () => wake?.()
  const gone = (cause?: unknown) => {
    if (!request.readableEnded) fail(clientGone(cause))
    check()
  }
  const stopped = () => fail(options.signal?.reason)

  const deadline = setTimeout(
    () => fail(tooSlow(`did not end within ${options.deadlineMs / 1000} seconds`)),
    options.deadlineMs,
  )
  const stopPace = watchPace(options.pace, {
    bytes: () => received,
    waiting: () => wake !== undefined,
    tooSlow: () => fail(tooSlow(`came slower than ${options.pace.bytesPerSecond} bytes a second`)),
  })
  request.on('readable', check).on('end', check).on('error', gone).on('close', gone)
  options.signal?.addEventListener('abort', stopped, { once: true })
  if (options.signal?.aborted) stopped()

  const next = async (): Promise<Buffer | undefined> => {
    for (;;) {
      if (failure !== undefined) throw failure.error
      const chunk: unknown = request.read()
      if (Buffer.isBuffer(chunk)) {
        received += chunk.length
        if (received > options.maxBytes) throw tooLarge(options.maxBytes)
        options.onBytes?.(chunk.length)
        return chunk
      }
      if (request.readableEnded) return undefined
      if (request.destroyed) throw clientGone()
      await new Promise<void>((resolve) => (wake = resolve))
      wake = undefined
    }
  }

  const close = () => {
    clearTimeout(deadline)
    stopPace()
    options.signal?.removeEventListener('abort', stopped)
    request.off('readable', check).off('end', check).off('error', gone).off('close', gone)
  }

  return { next, received: () => received, close }
}

export const tooLarge = (maxBytes: number) =>
  apiError('body_too_large', `The body must not be longer than ${maxBytes} bytes.`)

const tooSlow = (what: string) =>
  apiError('request_timeout', `The body ${what}.`, { headers: { connection: 'close' } })

const clientGone = (cause?: unknown) =>
  apiError('bad_request', 'The connection was closed before the body was complete.', { cause })
