import { createHash } from 'node:crypto'
import { open, rm, type FileHandle } from 'node:fs/promises'
import { pipeline, type Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip } from 'node:zlib'

import type { DownloadLimits } from '../domain/download-limits.ts'
import {
  startExchange,
  USER_AGENT,
  type Exchange,
  type ExchangeOptions,
  type Response,
} from './exchange.ts'
import { OUTBOUND_ERRORS, OutboundError, toOutboundError } from './error.ts'
import { parseLocation, type ValidateUrl } from './url.ts'

export interface ReadOptions extends DownloadLimits {
  url: string
  /** Sent to this URL beside the headers of each request, and to no URL that it redirects to. */
  headers?: Record<string, string> | undefined
  /** Ends the download, which then rejects with the signal's reason. */
  signal?: AbortSignal | undefined
}

export interface DownloadOptions extends ReadOptions {
  /** Must not exist yet; exists afterwards only if the download succeeded. */
  toFile: string
  /** Called with the bytes written so far, after each piece of the body. */
  onProgress?: ((bytes: number) => void) | undefined
}

export interface Downloaded {
  bytes: number
  /** Hexadecimal. */
  sha256: string
}

/** Rules of every request of the client. */
export type Guard = Pick<ExchangeOptions, 'isAllowed' | 'network'> & {
  validateUrl: ValidateUrl
  closing: AbortSignal
}

/**
 * Fetches a URL into a new file.
 * @throws OutboundError for what happened outside; the error of the file system for what happened here.
 */
export const download = (guard: Guard, options: DownloadOptions): Promise<Downloaded> =>
  fetchBody(guard, options, (body) => writeNewFile(body, options))

/**
 * Fetches a URL into memory, so `maxBytes` is to be small.
 * @throws OutboundError
 */
export const read = (guard: Guard, options: ReadOptions): Promise<Buffer> =>
  fetchBody(guard, options, async (body) => {
    const chunks: Buffer[] = []
    for await (const chunk of readBody(body, options.maxBytes)) chunks.push(chunk)
    return Buffer.concat(chunks)
  })

const fetchBody = async <Taken>(
  guard: Guard,
  options: ReadOptions,
  take: (body: AsyncIterable<Buffer>) => Promise<Taken>,
): Promise<Taken> => {
  const { signal, maxBytes, timeoutMs } = options
  const signals = signal === undefined ? [guard.closing] : [guard.closing, signal]
  const exchange = startExchange({ ...guard, maxBytes, timeoutMs, signals })
  try {
    exchange.signal.throwIfAborted()
    const response = await getFollowingRedirects({
      ...options,
      validateUrl: guard.validateUrl,
      exchange,
    })
    return await take(openBody(response, maxBytes))
  } catch (error) {
    // A socket that the deadline closed fails in many ways; the reason is one.
    throw exchange.signal.aborted ? exchange.signal.reason : error
  } finally {
    await exchange.end()
  }
}

interface Journey {
  validateUrl: ValidateUrl
  exchange: Exchange
  url: string
  headers?: Record<string, string> | undefined
  maxRedirects: number
}

const REDIRECTS = [301, 302, 303, 307, 308]

const getFollowingRedirects = async (journey: Journey): Promise<Response> => {
  const { validateUrl, exchange, maxRedirects } = journey
  let url = validateOrThrow(validateUrl, journey.url)
  for (let hops = 0; ; hops += 1) {
    const response = await get(exchange, url, hops === 0 ? journey.headers : undefined)
    if (!REDIRECTS.includes(response.statusCode)) return response
    discard(response)
    if (hops >= maxRedirects)
      throw new OutboundError('too_many_redirects', `more than ${maxRedirects} redirects`)
    url = nextUrl(validateUrl, response, url)
  }
}

const get = async (
  { send }: Exchange,
  url: URL,
  further: Record<string, string> = {},
): Promise<Response> => {
  // The same few headers on every hop, so that nothing is carried from one host to the next.
  const headers = {
    accept: '*/*',
    'accept-encoding': 'identity',
    'user-agent': USER_AGENT,
    ...further,
  }
  try {
    return await send(url, { method: 'GET', headers })
  } catch (error) {
    throw toOutboundError(error)
  }
}

const nextUrl = (validateUrl: ValidateUrl, response: Response, from: URL): URL => {
  const { location } = response.headers
  if (typeof location !== 'string') throw statusError(response)
  const target = parseLocation(location, from)
  if (target === undefined) throw new OutboundError('redirect_invalid')
  const url = validateOrThrow(validateUrl, target)
  if (from.protocol === 'https:' && url.protocol === 'http:') throw new OutboundError('downgrade')
  return url
}

const validateOrThrow = (validateUrl: ValidateUrl, raw: string | URL): URL => {
  const { url } = validateUrl(raw)
  if (url === undefined) throw new OutboundError('address_refused')
  return url
}

/** Unread, because the body of a redirect may be endless. */
const discard = ({ body }: Response) => {
  body.on('error', () => {})
  body.destroy()
}

const statusError = ({ statusCode }: Response) =>
  new OutboundError('status', `responded with status ${statusCode}`, { status: statusCode })

/** Decoders by the word in Content-Encoding: servers compress unasked. */
const DECODERS: Partial<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  br: createBrotliDecompress,
}

const OTHER_ENCODINGS = ['deflate', 'compress', 'x-compress', 'zstd']

/** The body, decoded. Other words in Content-Encoding (`binary`, `aws-chunked` left in an object's metadata) change no byte. */
const openBody = (response: Response, maxBytes: number): AsyncIterable<Buffer> => {
  if (response.statusCode < 200 || response.statusCode > 299) throw statusError(response)
  if (Number(response.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes)
  const encodings = String(response.headers['content-encoding'] ?? '').toLowerCase()
  const words = encodings.split(',').map((word) => word.trim())
  const other = words.find((word) => OTHER_ENCODINGS.includes(word))
  if (other !== undefined)
    throw new OutboundError('compressed', `${OUTBOUND_ERRORS.compressed}: ${other}`)
  const decoders = words.flatMap((word) => DECODERS[word]?.() ?? []).toReversed()
  if (decoders.length > 1)
    throw new OutboundError('compressed', `${OUTBOUND_ERRORS.compressed}: ${encodings}`)
  const [decoder] = decoders
  // With `pipeline` an error of either side ends both.
  return decoder ? pipeline(response.body, decoder, () => {}) : response.body
}

const tooLarge = (maxBytes: number) =>
  new OutboundError('too_large', `over the limit of ${maxBytes.toLocaleString('en')} bytes`)

const writeNewFile = async (body: AsyncIterable<Buffer>, options: DownloadOptions) => {
  const file = await open(options.toFile, 'wx')
  try {
    return await writeBody(body, file, options).finally(() => file.close())
  } catch (error) {
    await rm(options.toFile, { force: true })
    throw error
  }
}

const writeBody = async (
  body: AsyncIterable<Buffer>,
  file: FileHandle,
  options: DownloadOptions,
) => {
  const hash = createHash('sha256')
  let bytes = 0
  for await (const chunk of readBody(body, options.maxBytes)) {
    hash.update(chunk)
    await file.writeFile(chunk)
    bytes += chunk.length
    options.onProgress?.(bytes)
  }
  return { bytes, sha256: hash.digest('hex') }
}

/** Reads the body. Its errors become OutboundErrors; errors of the file it is written to do not. */
async function* readBody(body: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Buffer> {
  let bytes = 0
  try {
    for await (const chunk of body) {
      bytes += chunk.length
      if (bytes > maxBytes) throw tooLarge(maxBytes)
      yield chunk
    }
  } catch (error) {
    const failure = toOutboundError(error)
    throw failure.kind === 'too_large' ? tooLarge(maxBytes) : failure
  }
}
