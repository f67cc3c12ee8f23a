import type { Readable } from 'node:stream'
import type { Agent } from 'undici'
import type { ConnectionWatch } from './connector.ts'
import type { Guard } from './download.ts'
import type { Located } from './locate.ts'
import { startExchange, USER_AGENT, type Exchange, type Response } from './exchange.ts'
import { OutboundError, toOutboundError } from './error.ts'
import { watchResponse, type ResponseWatch } from './incoming.ts'
import { parseLocation, type ValidateUrl } from './url.ts'

export interface PostLimits {
  /** For look-up, connection and TLS together. */
  connectMs: number
  /** From the connection to the whole head of the response. */
  headersMs: number
  /** For the body of the response, behind its head. */
  bodyMs: number
  /** For everything together, however slowly it comes. */
  totalMs: number
  /** Most of the response's body that is read. */
  bodyBytes: number
  /** Most of it that is kept. */
  excerptBytes: number
}

export const POST_LIMITS: PostLimits = {
  connectMs: 5_000,
  headersMs: 10_000,
  bodyMs: 2_000,
  totalMs: 15_000,
  bodyBytes: 65_536,
  excerptBytes: 1_024,
}

export interface PostOptions {
  url: string
  /** Sent beside Content-Type, Content-Length and User-Agent. */
  headers: Record<string, string>
  /** Absent: a POST, or a GET without a body. */
  method?: 'POST' | 'PUT' | undefined
  /** JSON, sent byte for byte; a stream, whose length the headers give, can be sent on a new connection only. Absent: a GET. */
  body?: Uint8Array | Readable | undefined
  /** Result of `locate` for the URL; it is looked up when absent. */
  located?: Located | undefined
  limits?: PostLimits | undefined
  /** Ends the attempt, which then rejects with the signal's reason unless a response had begun. */
  signal?: AbortSignal | undefined
}

interface Attempted {
  /** The address that was dialled last, for operators only; undefined when none was. */
  address: string | undefined
  durationMs: number
}

export interface Responded extends Attempted {
  status: number
  /** As it came. */
  retryAfter: string | undefined
  /** Headers that came once, with names in small letters; absent where the response broke off. */
  headers?: Record<string, string>
  /** Start of the body as text, without control characters; what is no UTF-8 stands as U+FFFD. */
  excerpt: string
  /** Target of a 3xx, without its query; absent when it names no address that this service calls. */
  redirectsTo?: string | undefined
  errorClass?: never
}

export interface NoResponse extends Attempted {
  status?: never
  errorClass: (typeof CLASSES)[number] | 'unknown'
  /** May be shown: it says nothing of what was found at an address. */
  reason: string
  /** For the log. */
  cause: unknown
}

export type Posted = Responded | NoResponse

export type PostGuard = Guard & {
  /** Connections that messages leave for the next ones. */
  pool: Agent
}

/**
 * Sends JSON once. The status line counts as the response; whatever follows it, or breaks off, changes nothing.
 * @throws the reason of `signal`, or an AbortError when the client is closed.
 */
export const post = async (guard: PostGuard, options: PostOptions): Promise<Posted> => {
  const began = performance.now()
  const seen: Seen = { address: undefined, response: undefined }
  const outcome = await attempt(guard, options, seen)
  const durationMs = Math.round(performance.now() - began + (options.located?.tookMs ?? 0))
  return { ...outcome, address: seen.address, durationMs }
}

/** Facts of an attempt that are known at any moment at which it may end. */
interface Seen {
  address: string | undefined
  response: ResponseWatch | undefined
}

type Outcome = Omit<Responded, keyof Attempted> | Omit<NoResponse, keyof Attempted>

/** Sends once, and once more where the server had closed a connection that was kept. */
const attempt = async (guard: PostGuard, options: PostOptions, seen: Seen): Promise<Outcome> => {
  const { located } = options
  if (located?.error) return toNoResponse(located.error)
  const began = performance.now()
  const spentMs = located?.tookMs ?? 0
  const outcome = await exchangeOnce(guard, options, seen, { spentMs, isFresh: false })
  if (outcome) return outcome
  const again = { spentMs: spentMs + performance.now() - began, isFresh: true }
  return (await exchangeOnce(guard, options, seen, again)) as Outcome
}

/** Returns undefined when a kept connection ended before a byte of the response. */
const exchangeOnce = async (
  guard: PostGuard,
  options: PostOptions,
  seen: Seen,
  progress: { spentMs: number; isFresh: boolean },
): Promise<Outcome | undefined> => {
  const { signal, located, limits = POST_LIMITS } = options
  const exchange = startExchange({
    ...guard,
    addresses: located?.addresses,
    ...progress,
    watch: watchInto(seen),
    timeoutMs: limits.totalMs,
    stages: limits,
    maxBytes: limits.bodyBytes,
    signals: signal === undefined ? [guard.closing] : [guard.closing, signal],
  })
  try {
    exchange.signal.throwIfAborted()
    const response = await send(guard.validateUrl, exchange, options)
    return await readResponse(response, limits, findTarget(guard, response, options.url))
  } catch (error) {
    const status = seen.response?.status()
    if (status !== undefined) return { status, retryAfter: undefined, excerpt: '' }
    if (exchange.signal.aborted) return toNoResponse(exchange.signal.reason)
    const failure = toOutboundError(error)
    if (exchange.isReused() && failure.kind === 'reset' && !seen.response?.hasBegun())
      return undefined
    return toNoResponse(failure)
  } finally {
    await exchange.end()
  }
}

const watchInto = (seen: Seen): ConnectionWatch => ({
  onDial: (address) => {
    seen.address = address
  },
  onReady: (socket) => {
    seen.response = watchResponse(socket)
  },
})

const send = (
  validateUrl: ValidateUrl,
  exchange: Exchange,
  { url, method = 'POST', headers, body }: PostOptions,
) => {
  const validated = validateUrl(url)
  if (validated.url === undefined) throw new OutboundError('address_refused')
  const all = { 'content-type': 'application/json', 'user-agent': USER_AGENT, ...headers }
  return exchange.send(
    validated.url,
    body ? { method, headers: all, body } : { method: 'GET', headers: all },
  )
}

const findTarget = (
  { validateUrl }: PostGuard,
  { statusCode, headers }: Response,
  from: string,
): string | undefined => {
  const { location } = headers
  if (statusCode < 300 || statusCode > 399 || typeof location !== 'string') return undefined
  const target = parseLocation(location, new URL(from))
  const url = target && validateUrl(target).url
  return url && url.origin + url.pathname
}

const readResponse = async (
  response: Response,
  limits: PostLimits,
  redirectsTo: string | undefined,
) => ({
  status: response.statusCode,
  redirectsTo,
  retryAfter: [response.headers['retry-after']].flat()[0],
  headers: Object.fromEntries(
    Object.entries(response.headers).filter(
      (header): header is [string, string] => typeof header[1] === 'string',
    ),
  ),
  excerpt: toText(await readStart(response.body, limits)),
})

/** Reads without a pause (see exchange.ts) up to the limits. The rest goes with the connection. */
const readStart = (body: Response['body'], limits: PostLimits): Promise<Buffer> =>
  new Promise((resolve) => {
    const chunks: Buffer[] = []
    let bytes = 0
    const finish = () => {
      clearTimeout(timer)
      resolve(Buffer.concat(chunks).subarray(0, limits.excerptBytes))
    }
    const timer = setTimeout(finish, limits.bodyMs)
    body.on('error', () => {}).on('close', finish)
    body.on('data', (chunk: Buffer) => {
      if (bytes < limits.excerptBytes) chunks.push(chunk)
      bytes += chunk.length
      if (bytes >= limits.bodyBytes) body.destroy()
    })
  })

/** As a stream, so that a character cut by the limit is left out. */
const toText = (bytes: Buffer): string =>
  new TextDecoder().decode(bytes, { stream: true }).replaceAll(/\p{Cc}/gu, '')

/** Errors that the record of an attempt has a word for. The others cannot happen to a POST that follows no redirect. */
const CLASSES = ['address_refused', 'dns', 'connect', 'tls', 'timeout', 'reset'] as const

/** @throws what ended the exchange, unless that is an OutboundError */
const toNoResponse = (failure: unknown): Outcome => {
  if (!(failure instanceof OutboundError)) throw failure
  const errorClass = CLASSES.find((kind) => kind === failure.kind) ?? 'unknown'
  return { errorClass, reason: failure.message, cause: failure.cause }
}
