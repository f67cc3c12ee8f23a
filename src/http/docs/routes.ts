import { createReadStream } from 'node:fs'

import { Type } from 'typebox'

import { errors } from '../../domain/shared/errors.ts'
import { isKnown, quoteTag } from '../serve/etag.ts'
import { sendStream } from '../serve/file-response.ts'
import { defineRoute } from '../route.ts'
import type { Route, RouteRequest, StreamAnswer } from '../route.ts'
import type { Page, Pages } from './pages.ts'

/** The reference page and the guides, as files that a build has made. */
export const makeDocsRoutes = ({ pages }: { pages: Pages }): Route[] => [
  defineRoute({
    ...COMMON,
    path: '/',
    summary: 'Go to the documentation',
    responses: { 302: { description: 'The reference page.', headers: ['Location'] } },
    errors: [],
    handler: () => Promise.resolve({ status: 302, headers: { location: '/docs' } }),
  }),
  defineRoute({
    ...COMMON,
    path: '/docs',
    summary: 'Read the reference page, on which each route can be tried',
    responses: HTML,
    handler: (request) => answer(pages, 'index', request),
  }),
  defineRoute({
    ...COMMON,
    path: '/docs/:page',
    summary: 'Read a guide',
    params: Type.Object({ page: Type.String({ description: 'Name of the guide.' }) }),
    responses: HTML,
    handler: (request) => answer(pages, request.params.page, request),
  }),
  defineRoute({
    ...COMMON,
    path: '/docs/assets/:name',
    summary: 'Read a script, style or picture of the documentation',
    params: Type.Object({ name: Type.String({ description: 'Name of the file.' }) }),
    responses: ASSET,
    handler: (request) => answer(pages, `assets/${request.params.name}`, request),
  }),
]

const COMMON = {
  method: 'get',
  tag: 'Documentation',
  auth: 'none',
  errors: ['not_found'],
  requestHeaders: ['If-None-Match'],
} as const

const CACHED = ['ETag', 'Cache-Control'] as const
const UNCHANGED = { 304: { description: 'The caller has the file already.', headers: CACHED } }

const HTML = {
  200: { description: 'The page.', mediaType: 'text/html', headers: CACHED },
  ...UNCHANGED,
}

const ASSET = { 200: { description: 'The file.', mediaType: '*/*', headers: CACHED }, ...UNCHANGED }

/**
 * Nothing inline, no other origin, no frame around it. Swagger UI has icons in its style as `data:`, and offers large
 * answers as `blob:`.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "media-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** The names of the encodings, and the ends of the files that hold them, best first. */
const ENCODINGS = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const

const answer = (
  pages: Pages,
  name: string,
  { incoming, headers: asked }: Pick<RouteRequest, 'incoming' | 'headers'>,
): Promise<StreamAnswer> => {
  const page = pages.get(name)
  if (page === undefined) throw errors.routeNotFound(name === 'index' ? '/docs' : `/docs/${name}`)
  const [encoding, end] = chooseEncoding(page, asked['accept-encoding'] ?? '') ?? []
  const etag = quoteTag(`${page.sha256.slice(0, 32)}${end ?? ''}`)
  const isOld = isKnown(asked['if-none-match'], etag)
  const headers = {
    etag,
    'cache-control': page.immutable ? 'public, max-age=31536000, immutable' : 'no-cache',
    vary: 'Accept-Encoding',
    'content-security-policy': POLICY,
    ...(!isOld && { 'content-type': page.contentType }),
    ...(!isOld && encoding && { 'content-encoding': encoding }),
  }
  return Promise.resolve({
    stream: async (response) => {
      response.writeHead(isOld ? 304 : 200, headers)
      if (isOld || incoming.method === 'HEAD') response.end()
      else await sendStream(response, createReadStream(`${page.path}${end ?? ''}`))
    },
  })
}

const chooseEncoding = (page: Page, accepted: string) => {
  if (!page.compressed) return undefined
  const refused = /;\s*q=0(\.0*)?\s*$/
  const taken = accepted
    .split(',')
    .filter((item) => !refused.test(item))
    .map((item) => item.split(';')[0]?.trim())
  return ENCODINGS.find(([name]) => taken.includes(name))
}
