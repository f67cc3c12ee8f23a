import { Type } from 'typebox'

import { errors } from '../../domain/errors.ts'
import { defineRoute, type Route, type RouteRequest, type StreamResponse } from '../route.ts'
import { prefersHtml } from '../serve/negotiate.ts'
import { sendPage, type Pages } from './pages.ts'

export interface DocsDeps {
  pages: Pages
  /** Target of `/`. */
  landing: '/console/' | '/docs'
}

/** The reference page and the guides, as files that a build has made. */
export const makeDocsRoutes = ({ pages, landing }: DocsDeps): Route[] => [
  defineRoute({
    ...COMMON,
    path: '/',
    summary: 'Go to the console, or where there is none to the documentation',
    responses: {
      302: { description: 'The console or the reference page.', headers: ['Location'] },
    },
    errors: [],
    handler: () => Promise.resolve({ status: 302, headers: { location: landing } }),
  }),
  defineRoute({
    ...COMMON,
    path: '/docs',
    summary: 'Read the reference page, on which each route can be tried',
    responses: HTML,
    handler: (request) => respond(pages, 'index', request),
  }),
  defineRoute({
    ...COMMON,
    path: '/docs/:page',
    summary: 'Read a guide',
    description: 'A browser gets a page, too, where there is no guide.',
    params: Type.Object({ page: Type.String({ description: 'Name of the guide.' }) }),
    responses: HTML,
    handler: (request) => respond(pages, request.params.page, request),
  }),
  defineRoute({
    ...COMMON,
    path: '/docs/assets/:name',
    summary: 'Read a script, style or picture of the documentation',
    params: Type.Object({ name: Type.String({ description: 'Name of the file.' }) }),
    responses: ASSET,
    handler: (request) => respond(pages, `assets/${request.params.name}`, request),
  }),
]

const COMMON = {
  method: 'get',
  unread: 'ignored',
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
 * Nothing inline, no other origin, no frame around it; the one form leads to the registry. Swagger UI has icons in its style as `data:`, and offers large
 * responses as `blob:`.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self' data: blob:",
  "media-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ')

/** The page that is shown where there is none. */
const MISSING = 'missing'

const respond = (
  pages: Pages,
  name: string,
  request: Pick<RouteRequest, 'incoming' | 'headers'>,
): Promise<StreamResponse> => {
  const page = name === MISSING ? undefined : pages.get(name)
  if (page) return Promise.resolve(sendPage(page, POLICY, request))
  const missing = prefersHtml(request.headers) && pages.get(MISSING)
  if (missing) return Promise.resolve(sendPage(missing, POLICY, request, 404))
  throw errors.routeNotFound(name === 'index' ? '/docs' : `/docs/${name}`)
}
