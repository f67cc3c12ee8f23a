import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { basename, extname } from 'node:path'

const TYPES: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.webp': 'image/webp',
  '.jpg': 'image/jpeg',
  '.mp4': 'video/mp4',
  '.webm': 'video/webm',
}

/** Sends a file, or the one range of it that is asked for. */
export const sendFile = async (
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  const bytes = await readFile(path)
  const etag = `"${createHash('sha256').update(bytes).digest('hex').slice(0, 24)}"`
  const headers = {
    'content-type': TYPES[extname(path)] ?? 'application/octet-stream',
    'content-disposition': `filename="${basename(path)}"`,
    'accept-ranges': 'bytes',
    etag,
  }
  if (request.headers['if-none-match'] === etag) return void response.writeHead(304, headers).end()
  const [, from, to] = /^bytes=(\d*)-(\d*)$/.exec(request.headers.range ?? '') ?? []
  if (from === undefined && to === undefined)
    return void response.writeHead(200, { ...headers, 'content-length': bytes.length }).end(bytes)
  const start = from ? Number(from) : Math.max(0, bytes.length - Number(to))
  const end = from && to ? Math.min(Number(to) + 1, bytes.length) : bytes.length
  if (start >= bytes.length)
    return void response.writeHead(416, { 'content-range': `bytes */${bytes.length}` }).end()
  const part = bytes.subarray(start, end)
  response.writeHead(206, {
    ...headers,
    'content-length': part.length,
    'content-range': `bytes ${start}-${end - 1}/${bytes.length}`,
  })
  response.end(part)
}
