import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

import type { RouteRequest, StreamResponse } from '../route.ts'
import { isKnown, quoteTag } from './etag.ts'
import { sendStream } from './file-response.ts'
import { inPieces } from './json-response.ts'
import { acceptsEncoding } from './negotiate.ts'

/** The names of the encodings, and the ends of the files that hold them, best first. */
const ENCODINGS = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const

type End = (typeof ENCODINGS)[number][1]

/** Compresses bytes that are sent many times. */
export const compress = async (bytes: Buffer): Promise<Record<End, Buffer>> => {
  const params = { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY }
  const [br, gz] = await Promise.all([
    promisify(brotliCompress)(bytes, { params }),
    promisify(gzip)(bytes, { level: 9 }),
  ])
  return { '.br': br, '.gz': gz }
}

/** 0.4 s for the largest file; the highest, 11, takes 4 s for a tenth less. */
const BROTLI_QUALITY = 9

/** Makes the copies of a text in memory. */
export const copyText = async (text: string, contentType: string): Promise<Copies> => {
  const bytes = Buffer.from(text)
  const copies = { '': bytes, ...(await compress(bytes)) }
  return { ...copyOnce(text, contentType), compressed: true, open: (end) => inPieces(copies[end]) }
}

/** Makes the one copy of a text that is sent once: to compress it would take longer than to send it. */
export const copyOnce = (text: string, contentType: string): Copies => {
  const bytes = Buffer.from(text)
  return {
    contentType,
    sha256: digest(bytes),
    immutable: false,
    compressed: false,
    open: () => inPieces(bytes),
  }
}

export const digest = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

/** Bytes that were compressed before anybody asks for them. */
export interface Copies {
  contentType: string
  /** Lower-case hex, of the bytes that are not compressed. */
  sha256: string
  /** The name changes with the bytes, so that it may be kept for ever. */
  immutable: boolean
  /** True when there are compressed copies. */
  compressed: boolean
  headers?: Record<string, string>
  /** Opens the copy with this end, or the bytes themselves. */
  open(end: End | ''): Iterable<Buffer> | AsyncIterable<Buffer>
}

export type Asked = Pick<RouteRequest, 'incoming' | 'headers'>

/** Sends the copy in the best encoding that the caller takes; 304 when it has that already. */
export const sendCopy = (
  copies: Copies,
  { incoming, headers: asked }: Asked,
  status = 200,
): StreamResponse => ({
  stream: async (response) => {
    const [encoding, end = ''] = chooseEncoding(copies, asked) ?? []
    const etag = quoteTag(`${copies.sha256.slice(0, 32)}${end}`)
    const isOld = status === 200 && isKnown(asked['if-none-match'], etag)
    response.writeHead(isOld ? 304 : status, {
      ...(status === 200 && { etag }),
      'cache-control': copies.immutable ? 'public, max-age=31536000, immutable' : 'no-cache',
      vary: 'Accept-Encoding',
      ...copies.headers,
      ...(!isOld && { 'content-type': copies.contentType }),
      ...(!isOld && encoding && { 'content-encoding': encoding }),
    })
    if (isOld || incoming.method === 'HEAD') response.end()
    else await sendStream(response, copies.open(end))
  },
})

const chooseEncoding = ({ compressed }: Copies, headers: RouteRequest['headers']) =>
  compressed ? ENCODINGS.find(([name]) => acceptsEncoding(headers, name)) : undefined
