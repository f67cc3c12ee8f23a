import { createHash } from 'node:crypto'
import { open, rm, type FileHandle } from 'node:fs/promises'

import type { DownloadLimits } from '../../domain/task/media-limits.ts'
import {
  startExchange,
  USER_AGENT,
  type Exchange,
  type ExchangeOptions,
  type Response,
} from './exchange.ts'
import { OutboundFault, toOutboundFault } from './fault.ts'
import type { UrlJudge } from './url.ts'

export interface ReadOptions extends DownloadLimits {
  url: string
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

type Guard = Pick<ExchangeOptions, 'isAllowed' | 'network'> & {
  judge: UrlJudge
  closing: AbortSignal
}

/**
 * Fetches a URL into a new file.
 * @throws OutboundFault for what happened outside; the error of the file system for what happened here.
 */
export const download = (guard: Guard, options: DownloadOptions): Promise<Downloaded> =>
  fetchBody(guard, options, (body) => writeNewFile(body, options))

/**
 * Fetches a URL into memory, so `maxBytes` is to be small.
 * @throws OutboundFault
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
  take: (body: Answer['body']) => Promise<Taken>,
): Promise<Taken> => {
  const { signal, maxBytes, timeoutMs } = options
  const signals = signal === undefined ? [guard.closing] : [guard.closing, signal]
  const exchange = startExchange({ ...guard, maxBytes, timeoutMs, signals })
  try {
    exchange.signal.throwIfAborted()
    const answer = await getFollowingRedirects({ ...options, judge: guard.judge, exchange })
    refuseUnusable(answer, maxBytes)
    return await take(answer.body)
  } catch (error) {
    // A socket that the deadline closed fails in many ways; the reason is one.
    throw exchange.signal.aborted ? exchange.signal.reason : error
  } finally {
    await exchange.end()
  }
}

type Answer = Response

interface Journey {
  judge: UrlJudge
  exchange: Exchange
  url: string
  maxRedirects: number
}

const REDIRECTS = [301, 302, 303, 307, 308]

const getFollowingRedirects = async (journey: Journey): Promise<Answer> => {
  const { judge, exchange, maxRedirects } = journey
  let url = judged(judge, journey.url)
  for (let hops = 0; ; hops += 1) {
    const answer = await get(exchange, url)
    if (!REDIRECTS.includes(answer.statusCode)) return answer
    discard(answer)
    if (hops >= maxRedirects)
      throw new OutboundFault('too_many_redirects', `more than ${maxRedirects} redirects`)
    url = nextUrl(judge, answer, url)
  }
}

const get = async ({ send }: Exchange, url: URL): Promise<Answer> => {
  // The same few headers on every hop, so that nothing is carried from one host to the next.
  const headers = { accept: '*/*', 'accept-encoding': 'identity', 'user-agent': USER_AGENT }
  try {
    return await send(url, { method: 'GET', headers })
  } catch (error) {
    throw toOutboundFault(error)
  }
}

const nextUrl = (judge: UrlJudge, answer: Answer, from: URL): URL => {
  const { location } = answer.headers
  if (typeof location !== 'string') throw statusFault(answer)
  const url = judged(judge, location, from)
  if (from.protocol === 'https:' && url.protocol === 'http:') throw new OutboundFault('downgrade')
  return url
}

const judged = (judge: UrlJudge, raw: string, base?: URL): URL => {
  const { url } = judge(raw, base)
  if (url === undefined) throw new OutboundFault('address_refused')
  return url
}

/** Unread, because the body of a redirect may be endless. */
const discard = ({ body }: Answer) => {
  body.on('error', () => {})
  body.destroy()
}

const statusFault = ({ statusCode }: Answer) =>
  new OutboundFault('status', `answered with status ${statusCode}`, { status: statusCode })

const COMPRESSED = ['gzip', 'x-gzip', 'deflate', 'compress', 'x-compress', 'br', 'zstd']

/** Other words in Content-Encoding (`binary`, `utf-8`, `aws-chunked` left in an object's metadata) change no byte. */
const refuseUnusable = (answer: Answer, maxBytes: number) => {
  if (answer.statusCode < 200 || answer.statusCode > 299) throw statusFault(answer)
  const encodings = String(answer.headers['content-encoding'] ?? '').toLowerCase()
  if (encodings.split(',').some((encoding) => COMPRESSED.includes(encoding.trim())))
    throw new OutboundFault('compressed')
  if (Number(answer.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes)
}

const tooLarge = (maxBytes: number) =>
  new OutboundFault('too_large', `over the limit of ${maxBytes.toLocaleString('en')} bytes`)

const writeNewFile = async (body: Answer['body'], options: DownloadOptions) => {
  const file = await open(options.toFile, 'wx')
  try {
    return await writeBody(body, file, options).finally(() => file.close())
  } catch (error) {
    await rm(options.toFile, { force: true })
    throw error
  }
}

const writeBody = async (body: Answer['body'], file: FileHandle, options: DownloadOptions) => {
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

/** The body, with its faults told apart from those of the file it is written to. */
async function* readBody(body: Answer['body'], maxBytes: number): AsyncGenerator<Buffer> {
  let bytes = 0
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > maxBytes) throw tooLarge(maxBytes)
      yield chunk
    }
  } catch (error) {
    const fault = toOutboundFault(error)
    throw fault.kind === 'too_large' ? tooLarge(maxBytes) : fault
  }
}
