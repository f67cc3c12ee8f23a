import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'

import contentDisposition from 'content-disposition'

import type { ByteRange, StoredFile } from '../../storage/storage.ts'
import { apiError } from '../../domain/errors.ts'
import { isKnown, quoteTag } from './etag.ts'

export interface ServedFile {
  name: string
  /** Bytes. */
  size: number
  contentType: string
  /** Lower-case hex; it is the ETag. */
  sha256: string | undefined
  /** Says which caches may keep it, and for how long. */
  cacheControl: string
  /** Headers of this kind of file alone. */
  headers?: Record<string, string>
}

export interface FilePlan {
  status: 200 | 206 | 304
  headers: Record<string, string>
  /** The part to send; undefined is all of it. */
  range?: ByteRange
}

/** Any page may read a file, as an image, by script or in parts: the signed link is the permission. */
export const OPEN_TO_ALL = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'Accept-Ranges, Content-Disposition, Content-Range, ETag',
  'cross-origin-resource-policy': 'cross-origin',
}

/**
 * Plans the response to a GET or HEAD of a file (RFC 9110, 13 and 14): 304 when the caller has it, 206 for one range of
 * a GET, else 200; several ranges, a malformed one and one whose If-Range no longer holds get the whole file. Throws 416
 * for a range outside the file.
 */
export const planFile = (
  method: string | undefined,
  request: IncomingHttpHeaders,
  file: ServedFile,
): FilePlan => {
  const etag = file.sha256 === undefined ? undefined : quoteTag(file.sha256)
  const headers = describeFile(file, etag)
  if (isKnown(request['if-none-match'], etag)) return { status: 304, headers }
  const whole: FilePlan = {
    status: 200,
    headers: { ...headers, ...contentHeaders(file, file.size) },
  }
  const ifRange = request['if-range']
  if (method !== 'GET' || (ifRange !== undefined && ifRange !== etag)) return whole
  const range = readRange(request.range, file.size)
  if (range === undefined) return whole
  if (range === 'outside') throw rangeNotSatisfiable(file.size)
  return {
    status: 206,
    headers: {
      ...headers,
      ...contentHeaders(file, range.end - range.start + 1),
      'content-range': `bytes ${range.start}-${range.end}/${file.size}`,
    },
    range,
  }
}

/** Writes a planned response. The file is closed at its end and when the client goes away, which is no error. */
export const sendFile = async (
  response: ServerResponse,
  plan: FilePlan,
  stream: StoredFile['stream'] | undefined,
): Promise<void> => {
  response.writeHead(plan.status, plan.headers)
  if (stream === undefined) {
    response.end()
    return
  }
  await sendStream(response, stream)
}

/** Writes a body and ends with it. A client that goes away is no error. */
export const sendStream = async (
  response: ServerResponse,
  body: Iterable<Buffer> | AsyncIterable<Buffer>,
): Promise<void> => {
  await pipeline(body, response).catch((error: unknown) => {
    if (!response.destroyed || !isClientGone(error)) throw error
  })
}

/** Content-Disposition of a file that is shown in place: a plain name, and the exact one where they differ. */
const inlineDisposition = (name: string): string =>
  contentDisposition(name, { type: 'inline', fallback: name.replace(/[^\x20-\x7e]|["\\%]/gu, '_') })

const describeFile = (file: ServedFile, etag: string | undefined): Record<string, string> => ({
  ...OPEN_TO_ALL,
  ...(etag !== undefined && { etag }),
  'cache-control': file.cacheControl,
  ...file.headers,
  // The bytes come from callers: a browser must neither guess a type for them nor run what is in them.
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; sandbox",
})

const contentHeaders = (file: ServedFile, length: number): Record<string, string> => ({
  'content-type': file.contentType,
  'content-length': String(length),
  'content-disposition': inlineDisposition(file.name),
  'accept-ranges': 'bytes',
})

/**
 * One range of bytes, cut at the end of the file; undefined when it is to be ignored. The range-parser package calls
 * `bytes=-500` of a shorter file and the backward `bytes=5-2` unsatisfiable; RFC 9110 wants the whole file for both.
 */
const readRange = (header: string | undefined, size: number): ByteRange | 'outside' | undefined => {
  const [, first, last] = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(header ?? '') ?? []
  if (first === undefined || last === undefined || first + last === '') return undefined
  if (first === '') {
    const length = Math.min(Number(last), size)
    return length === 0 ? 'outside' : { start: size - length, end: size - 1 }
  }
  if (last !== '' && Number(last) < Number(first)) return undefined
  if (Number(first) >= size) return 'outside'
  return { start: Number(first), end: Math.min(last === '' ? size : Number(last), size - 1) }
}

const rangeNotSatisfiable = (size: number) =>
  apiError('range_not_satisfiable', `The Range lies outside the file of ${size} bytes.`, {
    headers: { ...OPEN_TO_ALL, 'content-range': `bytes */${size}` },
  })

const isClientGone = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  ['ERR_STREAM_PREMATURE_CLOSE', 'ECONNRESET', 'EPIPE'].includes(String(error.code))
