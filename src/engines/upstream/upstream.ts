import { parseRetryAfter } from '../../platform/domain/retry-after.ts'
import { parseStorable } from '../../platform/db/storable-text.ts'
import type { DownloadOptions } from '../../platform/outbound/download.ts'
import { makeOutbound, type OutboundOptions } from '../../platform/outbound/outbound.ts'
import type { PostLimits } from '../../platform/outbound/post.ts'
import type { StreamedBody } from './body.ts'
import { makeLimiter, type Limits } from './limiter.ts'

export interface UpstreamOptions extends Partial<UpstreamRules> {
  /** Base URL of its interface. This origin is called wherever it is; links to others go through the guard. */
  url: string
  /** Setting that has the address, for operators. */
  setting: string
  key: string
  /** Prefix of the routes of this service, and what stands there for it. */
  prefix?: { here: string; there: string } | undefined
  limits: Limits
  outbound: Omit<OutboundOptions, 'trusted'>
  /** Silence after which a request reports it; 10,000 when absent. */
  silenceMs?: number
}

export interface UpstreamRules {
  /** Times that a task which it has forgotten is sent to it again. */
  resubmit: number
  /** Callers may read what it says of an attempt that fails. */
  showsErrors: boolean
}

export interface UpstreamRequest {
  /** Path of this service, which stands there below its address. */
  path: string
  /** Absent: a GET. */
  body?: StreamedBody | undefined
  idempotencyKey?: string
  /** Called once it has been without a response for long, with the time at which it was sent. */
  onSilence?: (since: Date) => void
  signal: AbortSignal
}

export interface UpstreamResponse {
  status: number
  /** Wait that Retry-After asks for, within the most that this interface ever asks for; 0 without. */
  retryAfterMs: number
  /** `{}` unless it is a JSON object. */
  body: Record<string, unknown>
}

/** A request that brought no response, for the log. */
export interface NoResponse {
  reason: string
}

/** A service that speaks this interface and renders for us. */
export interface Upstream extends UpstreamRules {
  /** Its host and the setting that leads there, for operators. */
  name: string
  ask(request: UpstreamRequest): Promise<UpstreamResponse | NoResponse>
  /** Path there of a route of this service. */
  pathOf(path: string): string
  /** Reads the OpenAPI document of its routes: `{}` where it has none, undefined where that cannot be read now. */
  readDocument(signal: AbortSignal): Promise<Record<string, unknown> | undefined>
  /**
   * Fetches a result into a new file.
   * @throws OutboundError
   */
  fetch(options: Pick<DownloadOptions, 'url' | 'toFile' | 'signal'>): Promise<void>
  /** Removes from a text of the upstream what no caller may read: addresses and the key. */
  clean(text: string): string
  close(): void
}

/** Finds the upstream of a kind. Throws where it has none. */
export type FindUpstream = (kind: string) => Upstream

/** The largest result, and the time that it may take. */
const RESULT = { maxBytes: 200_000_000, timeoutMs: 300_000, maxRedirects: 5 }

const RESPONSE_BYTES = 1_048_576

/** Limits of a request. Two images of 50 MB may take two minutes to be sent. */
const ASK: PostLimits = {
  connectMs: 10_000,
  headersMs: 150_000,
  bodyMs: 10_000,
  totalMs: 160_000,
  bodyBytes: RESPONSE_BYTES,
  excerptBytes: RESPONSE_BYTES,
}

/** Its document has some megabytes at most; that of Kiln has one. */
const DOCUMENT: PostLimits = { ...ASK, bodyBytes: 2 ** 23, excerptBytes: 2 ** 23 }

const RETRY_AFTER_MAX_MS = 150_000
const SAID_CHARACTERS = 300

export const makeUpstream = (options: UpstreamOptions): Upstream => {
  const { url, key, limits, outbound: rules, resubmit = 0, showsErrors = false } = options
  const { setting, silenceMs = 10_000 } = options
  const base = url.replace(/\/+$/, '')
  const { here, there } = options.prefix ?? { here: '', there: '' }
  const outbound = makeOutbound({ ...rules, trusted: new URL(base).origin })
  const limiter = makeLimiter(limits)
  const authorization = `Bearer ${key}`
  const pathOf = (path: string): string =>
    there + (path.startsWith(here) ? path.slice(here.length) : path)
  return {
    resubmit,
    showsErrors,
    name: `${new URL(base).host} (${setting})`,
    async ask({ path, body, idempotencyKey, onSilence, signal }) {
      const headers = {
        authorization,
        ...(body && { 'content-length': String(body.bytes) }),
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      }
      const at = base + pathOf(path)
      const posted = await limiter.run(signal, async () => {
        const since = new Date()
        const timer = setTimeout(() => onSilence?.(since), silenceMs)
        const sent = outbound.post({ url: at, headers, body: body?.open(), limits: ASK, signal })
        return await sent.finally(() => clearTimeout(timer))
      })
      if (posted.status === undefined) return { reason: posted.reason }
      const { status, retryAfter, excerpt } = posted
      const asked = (parseRetryAfter(retryAfter, new Date()) ?? 0) * 1000
      const retryAfterMs = Math.min(asked, RETRY_AFTER_MAX_MS)
      if (status === 429) limiter.hold(retryAfterMs)
      return { status, retryAfterMs, body: parseStorable(excerpt) ?? {} }
    },
    pathOf,
    async readDocument(signal) {
      const url = `${base}/openapi.json`
      const posted = await limiter.run(signal, () =>
        outbound.post({ url, headers: { authorization }, limits: DOCUMENT, signal }),
      )
      const { status } = posted
      if (status === undefined || status === 429 || status >= 500) return undefined
      return status < 300 ? parseStorable(posted.excerpt) : {}
    },
    fetch: async ({ signal, ...file }) => {
      await limiter.run(signal ?? NEVER, () => outbound.download({ ...file, ...RESULT, signal }))
    },
    clean: (text) =>
      text
        .replaceAll(key, '(key)')
        .replaceAll(/[a-z][a-z\d+.-]*:\/\/\S+/gi, '(address)')
        .replaceAll(/\p{Cc}/gu, ' ')
        .slice(0, SAID_CHARACTERS),
    close: () => outbound.close(),
  }
}

const NEVER = new AbortController().signal
