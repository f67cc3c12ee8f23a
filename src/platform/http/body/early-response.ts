import type { IncomingMessage, ServerResponse } from 'node:http'

/** Bytes of a rejected body that are still taken, and for how long, so that the client gets to read the response. */
export interface DrainLimits {
  bytes: number
  ms: number
}

export const USUAL_DRAIN: DrainLimits = { bytes: 16 * 2 ** 20, ms: 5000 }

/** True when the response would go out while the client is still sending. */
export const isSending = (request: IncomingMessage): boolean => !request.complete

/**
 * Ends the response to a request whose body was not read to the end: sends it whole with `Connection: close`, goes on
 * reading for a moment, then destroys the socket. Without that moment the kernel meets the unread bytes with a reset,
 * and the client sees the reset in place of the response.
 *
 * The body is written, not ended, before the moment: `end` on a connection to be closed makes Node destroy the socket
 * at once. The client has the whole response all the same, because its length is declared. Status and other headers must
 * be set before the call. Resolves when the socket is done with; never rejects.
 */
export const endEarly = async (
  request: IncomingMessage,
  response: ServerResponse,
  body: string | Buffer,
  limits: DrainLimits = USUAL_DRAIN,
): Promise<void> => {
  const bytes = Buffer.from(body)
  response.setHeader('connection', 'close')
  response.setHeader('content-length', bytes.length)
  response.write(bytes)
  await drain(request, limits)
  response.end()
  request.socket.destroy()
}

const drain = (request: IncomingMessage, limits: DrainLimits): Promise<void> =>
  new Promise((resolve) => {
    let left = limits.bytes
    const take = (chunk: Buffer) => {
      left -= chunk.length
      if (left < 0) stop()
    }
    const stop = () => {
      clearTimeout(timer)
      request.off('data', take).off('end', stop).off('close', stop).pause()
      resolve()
    }
    const timer = setTimeout(stop, limits.ms)
    request.on('data', take).on('end', stop).on('close', stop)
    request.once('error', () => {})
    if (request.readableEnded || request.destroyed) stop()
    else request.resume()
  })
