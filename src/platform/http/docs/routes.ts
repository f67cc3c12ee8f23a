import { Type } from 'typebox'

import { errors } from '../../domain/errors.ts'
import { defineRoute, type Route, type RouteRequest, type StreamResponse } from '../route.ts'
import { copyText, sendCopy, type Copies } from '../serve/copies.ts'
import { prefersHtml } from '../serve/negotiate.ts'
import { readHtml, sendPage, type Page, type Pages } from './pages.ts'

export interface DocsDeps {
  pages: Pages
  publicUrl: string
  /** Target of `/`. */
  landing: '/console/' | '/docs'
}

/** The reference page and the guides, as files that a build has made. */
export const makeDocsRoutes = ({ landing, ...deps }: DocsDeps): Route[] => {
  const respond = makeRespond(deps)
  return [
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
      handler: (request) => respond('index', request),
    }),
    defineRoute({
      ...COMMON,
      path: '/docs/:page',
      summary: 'Read a guide',
      description: 'A browser gets a page, too, where there is no guide.',
      params: Type.Object({ page: Type.String({ description: 'Name of the guide.' }) }),
      responses: HTML,
      handler: (request) => respond(request.params.page, request),
    }),
    defineRoute({
      ...COMMON,
      path: '/docs/assets/:name',
      summary: 'Read a script, style or picture of the documentation',
      params: Type.Object({ name: Type.String({ description: 'Name of the file.' }) }),
      responses: ASSET,
      handler: (request) => respond(`assets/${request.params.name}`, request),
    }),
  ]
}

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
 * Nothing inline, no other origin, no frame around it, no form that is sent. Swagger UI has icons in its style as `data:`, and offers large
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
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** The page that is shown where there is none. */
const MISSING = 'missing'

type Asked = Pick<RouteRequest, 'incoming' | 'headers'>

const makeRespond = ({ pages, publicUrl }: Omit<DocsDeps, 'landing'>) => {
  const written = new Map<Page, Promise<Copies>>()
  /** Writes the origin into a page when it is first read. */
  const write = (page: Page): Promise<Copies> => {
    const known = written.get(page)
    if (known) return known
    const copies = readHtml(page, publicUrl).then((html) => copyText(html, page.contentType))
    written.set(page, copies)
    return copies
  }
  const send = async (page: Page, request: Asked, status?: number): Promise<StreamResponse> => {
    if (!page.path.endsWith('.html')) return sendPage(page, POLICY, request)
    const headers = { 'content-security-policy': POLICY }
    return sendCopy({ ...(await write(page)), headers }, request, status)
  }
  return async (name: string, request: Asked): Promise<StreamResponse> => {
    const page = name === MISSING ? undefined : pages.get(name)
    if (page) return await send(page, request)
    const missing = prefersHtml(request.headers) && pages.get(MISSING)
    if (missing) return await send(missing, request, 404)
    throw errors.routeNotFound(name === 'index' ? '/docs' : `/docs/${name}`)
  }
}
