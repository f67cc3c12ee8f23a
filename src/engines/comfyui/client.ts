import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat, writeFile } from 'node:fs/promises'
import { Readable } from 'node:stream'

import { parseStorable } from '../../platform/db/storable-text.ts'
import type { Output, OutputFile } from '../domain/template/run-end.ts'
import { makeOutbound, type OutboundOptions } from '../../platform/outbound/outbound.ts'
import type { PostLimits } from '../../platform/outbound/post.ts'

export interface ClientOptions {
  name: string
  /** This origin alone is called, wherever it is. */
  url: string
  /** Sent as a bearer token; empty: none. */
  token: string
  outbound: Omit<OutboundOptions, 'trusted'>
  /** Longest silence of a small request in milliseconds; 5000 when absent. */
  silenceMs?: number
}

/** A file to upload; a null in place of its path empties what was uploaded under the name. */
export interface Upload extends OutputFile {
  path: string | null
}

export interface ComfyResponse {
  status: number
  /** `{}` unless it is a JSON object. */
  body: Record<string, unknown>
}

/** An instance that gave no response that can be used. */
export class SilentError extends Error {
  override name = 'SilentError'
  /** Nothing of the request has reached it. */
  readonly isUnsent: boolean

  constructor(reason: string, isUnsent = false) {
    super(reason)
    this.isUnsent = isUnsent
  }
}

/** One instance of ComfyUI. All of it throws a SilentError for 5xx, and where no response comes. */
export interface ComfyClient {
  name: string
  get(path: string, signal?: AbortSignal): Promise<ComfyResponse>
  post(path: string, body: object, signal?: AbortSignal): Promise<ComfyResponse>
  upload(file: Upload, signal?: AbortSignal): Promise<ComfyResponse>
  /** True when it has a file. Reads its first byte alone. */
  has(file: OutputFile): Promise<boolean>
  /**
   * Fetches what a node has made into a new file.
   * @throws OutboundError
   */
  fetch(made: Output, toFile: string, signal: AbortSignal): Promise<void>
  close(): void
}

/** The longest queue: a hundred graphs of large workflows. */
const RESPONSE_BYTES = 64 * 2 ** 20
/** For a file of 512 MiB on its way in or out. */
const FILE_MS = 300_000
const FILE_BYTES = 1024 * 2 ** 20

export const makeComfyClient = ({
  name,
  url,
  token,
  outbound: rules,
  silenceMs = 5000,
}: ClientOptions): ComfyClient => {
  const { origin } = new URL(url)
  const outbound = makeOutbound({ ...rules, trusted: origin })
  const authorization = token === '' ? {} : { authorization: `Bearer ${token}` }
  const limitsOf = (totalMs: number): PostLimits => ({
    connectMs: silenceMs,
    headersMs: totalMs,
    bodyMs: totalMs,
    totalMs,
    bodyBytes: RESPONSE_BYTES,
    excerptBytes: RESPONSE_BYTES,
  })
  const ask = async (
    path: string,
    { totalMs = silenceMs, headers = {}, needsBody = false, ...options }: AskOptions = {},
  ): Promise<ComfyResponse> => {
    const posted = await outbound.post({
      url: origin + path,
      headers: { ...authorization, ...headers },
      limits: limitsOf(totalMs),
      ...options,
    })
    const { status } = posted
    if (status === undefined) throw new SilentError(posted.reason, UNSENT.has(posted.errorClass))
    const body = parseStorable(posted.excerpt)
    // A list that was cut must not look like an empty one; what takes an order may respond with nothing.
    if (status >= 500 || (needsBody && status < 300 && body === undefined))
      throw new SilentError(`responded with status ${status}`)
    return { status, body: body ?? {} }
  }
  return {
    name,
    get: (path, signal) => ask(path, { signal, needsBody: true }),
    post: (path, body, signal) =>
      ask(path, { body: Buffer.from(JSON.stringify(body)), signal, totalMs: 6 * silenceMs }),
    upload: async (file, signal) => {
      const { headers, body } = await makeForm(file)
      return await ask('/upload/image', { headers, body, signal, totalMs: FILE_MS })
    },
    has: async (file) => {
      const { status } = await ask(viewPath(file), { headers: { range: 'bytes=0-0' } })
      // An empty file has no first byte.
      return status < 300 || status === 416
    },
    fetch: async (made, toFile, signal) => {
      if ('text' in made) return await writeFile(toFile, made.text)
      const limits = { maxBytes: FILE_BYTES, timeoutMs: FILE_MS, maxRedirects: 0 }
      const address = origin + viewPath(made)
      await outbound.download({ url: address, toFile, headers: authorization, ...limits, signal })
    },
    close: () => outbound.close(),
  }
}

interface AskOptions {
  headers?: Record<string, string>
  body?: Uint8Array | Readable
  signal?: AbortSignal | undefined
  totalMs?: number
  needsBody?: boolean
}

const UNSENT: ReadonlySet<string> = new Set(['address_refused', 'dns', 'connect', 'tls'])

/** The path of a file. */
const viewPath = ({ filename, subfolder, type }: OutputFile): string =>
  `/view?${new URLSearchParams({ filename, subfolder, type }).toString()}`

/** A form with one file, which is read while it is sent. Names are ours, or came from an instance. */
const makeForm = async ({ path, filename, subfolder, type }: Upload) => {
  const boundary = randomUUID()
  const fields = Object.entries({ subfolder, type, overwrite: 'true' }).map(
    ([field, value]) =>
      `--${boundary}\r\nContent-Disposition: form-data; name="${field}"\r\n\r\n${value}\r\n`,
  )
  const quoted = filename.replaceAll(/["\r\n]/g, '_')
  const head = `${fields.join('')}--${boundary}\r\nContent-Disposition: form-data; name="image"; filename="${quoted}"\r\nContent-Type: application/octet-stream\r\n\r\n`
  const tail = `\r\n--${boundary}--\r\n`
  const bytes = path === null ? 0 : (await stat(path)).size
  const length = Buffer.byteLength(head) + bytes + Buffer.byteLength(tail)
  async function* read(): AsyncGenerator<Buffer> {
    yield Buffer.from(head)
    if (path !== null) yield* createReadStream(path) as AsyncIterable<Buffer>
    yield Buffer.from(tail)
  }
  return {
    headers: {
      'content-type': `multipart/form-data; boundary=${boundary}`,
      'content-length': String(length),
    },
    body: Readable.from(read(), { objectMode: false }),
  }
}
