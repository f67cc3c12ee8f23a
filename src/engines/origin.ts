import type { Readable } from 'node:stream'

import { parseStorable } from '../platform/db/storable-text.ts'
import { makeOutbound, type OutboundOptions } from '../platform/outbound/outbound.ts'
import type { PostLimits, PostOptions } from '../platform/outbound/post.ts'

export interface OriginOptions {
  name: string
  /** This origin alone is called, wherever it is. */
  url: string
  /** Sent as a bearer token; empty: none. */
  token: string
  outbound: Omit<OutboundOptions, 'trusted'>
  /** Longest silence of a small request in milliseconds; 5000 when absent. */
  silenceMs?: number
}

export interface OriginResponse {
  status: number
  /** `{}` unless it is a JSON object. */
  body: Record<string, unknown>
}

/** A machine that gave no response that can be used. */
export class SilentError extends Error {
  override name = 'SilentError'
  /** Nothing of the request has reached it. */
  readonly isUnsent: boolean

  constructor(reason: string, isUnsent = false) {
    super(reason)
    this.isUnsent = isUnsent
  }
}

export interface AskOptions extends Pick<PostOptions, 'method'> {
  headers?: Record<string, string>
  body?: Uint8Array | Readable
  signal?: AbortSignal | undefined
  totalMs?: number
  needsBody?: boolean
  /** Most of the response that is read. */
  maxBytes?: number
}

/** Most of a response: the longest queue, a hundred graphs of large workflows, or a result in a data URL. */
export const RESPONSE_BYTES = 64 * 2 ** 20
/** For a file of 512 MiB on its way in or out. */
const FILE_MS = 300_000
const FILE_BYTES = 1024 * 2 ** 20

const UNSENT: ReadonlySet<string> = new Set(['address_refused', 'dns', 'connect', 'tls'])

/** Makes requests to the one origin of a machine. Each throws a SilentError for 5xx, and where no response comes. */
export const makeOrigin = ({
  url,
  token,
  outbound: rules,
  silenceMs = 5000,
}: Omit<OriginOptions, 'name'>) => {
  const { origin } = new URL(url)
  const outbound = makeOutbound({ ...rules, trusted: origin })
  const authorization = token === '' ? {} : { authorization: `Bearer ${token}` }
  const limitsOf = (totalMs: number, maxBytes: number): PostLimits => ({
    connectMs: silenceMs,
    headersMs: totalMs,
    bodyMs: totalMs,
    totalMs,
    bodyBytes: maxBytes,
    excerptBytes: maxBytes,
  })
  return {
    origin,
    silenceMs,
    ask: async (
      path: string,
      {
        totalMs = silenceMs,
        headers = {},
        needsBody = false,
        maxBytes = RESPONSE_BYTES,
        ...options
      }: AskOptions = {},
    ): Promise<OriginResponse> => {
      const posted = await outbound.post({
        url: origin + path,
        headers: { ...authorization, ...headers },
        limits: limitsOf(totalMs, maxBytes),
        ...options,
      })
      const { status } = posted
      if (status === undefined) throw new SilentError(posted.reason, UNSENT.has(posted.errorClass))
      const body = parseStorable(posted.excerpt)
      // A list that was cut must not look like an empty one; what takes an order may respond with nothing.
      if (status >= 500 || (needsBody && status < 300 && body === undefined))
        throw new SilentError(`responded with status ${status}`)
      return { status, body: body ?? {} }
    },
    /** Fetches a file of it into a new one. Throws an OutboundError. */
    download: async (path: string, toFile: string, signal: AbortSignal): Promise<void> => {
      const limits = { maxBytes: FILE_BYTES, timeoutMs: FILE_MS, maxRedirects: 0 }
      await outbound.download({
        url: origin + path,
        toFile,
        headers: authorization,
        ...limits,
        signal,
      })
    },
    close: () => outbound.close(),
  }
}
