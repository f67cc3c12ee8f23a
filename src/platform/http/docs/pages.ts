import { createReadStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { acceptsEncoding } from '../serve/negotiate.ts'
import { isKnown, quoteTag } from '../serve/etag.ts'
import { sendStream } from '../serve/file-response.ts'
import type { RouteRequest, StreamResponse } from '../route.ts'

/** A file that tools/pages or tools/console has made, beside the copies of it that are compressed. */
export interface Page {
  /** Path of the file; `.br` and `.gz` behind it are its copies. */
  path: string
  contentType: string
  /** Lower-case hex, of the file that is not compressed. */
  sha256: string
  /** The name changes with the bytes, so that it may be kept for ever. */
  immutable: boolean
  /** True when there are compressed copies. */
  compressed: boolean
}

export type Pages = ReadonlyMap<string, Page>

/** Beside the code, in `dist/` as in `.built/`: `pages` is the documentation, `console` the console. */
const FOLDER = join(import.meta.dirname, '../../../..')

/** The pages by the rest of their address behind /docs/ or /console/. Without any where they were not built. */
export const loadPages = async (name: 'pages' | 'console'): Promise<Pages> => {
  const folder = join(FOLDER, name)
  const text = await readFile(join(folder, 'pages.json'), 'utf8').catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return '{}'
      throw error
    },
  )
  const listed = Object.entries(JSON.parse(text) as Record<string, Page>)
  return new Map(listed.map(([name, page]) => [name, { ...page, path: join(folder, page.path) }]))
}

/** The names of the encodings, and the ends of the files that hold them, best first. */
const ENCODINGS = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const

/** Sends a page under a policy: 304 when the caller has it, else in the best encoding that it takes. */
export const sendPage = (
  page: Page,
  policy: string,
  { incoming, headers: asked }: Pick<RouteRequest, 'incoming' | 'headers'>,
): StreamResponse => {
  const [encoding, end] = chooseEncoding(page, asked) ?? []
  const etag = quoteTag(`${page.sha256.slice(0, 32)}${end ?? ''}`)
  const isOld = isKnown(asked['if-none-match'], etag)
  const headers = {
    etag,
    'cache-control': page.immutable ? 'public, max-age=31536000, immutable' : 'no-cache',
    vary: 'Accept-Encoding',
    'content-security-policy': policy,
    ...(!isOld && { 'content-type': page.contentType }),
    ...(!isOld && encoding && { 'content-encoding': encoding }),
  }
  return {
    stream: async (response) => {
      response.writeHead(isOld ? 304 : 200, headers)
      if (isOld || incoming.method === 'HEAD') response.end()
      else await sendStream(response, createReadStream(`${page.path}${end ?? ''}`))
    },
  }
}

const chooseEncoding = (page: Page, headers: RouteRequest['headers']) =>
  page.compressed ? ENCODINGS.find(([name]) => acceptsEncoding(headers, name)) : undefined
