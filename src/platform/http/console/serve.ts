import type { RequestHandler } from 'express'

import { errors } from '../../domain/errors.ts'
import { sendPage, loadPages } from '../docs/pages.ts'

interface ConsoleOptions {
  /** Origins of the issuer that the page calls. */
  authOrigins: readonly string[]
  /** Origins of the store that it is sent to for files. */
  storeOrigins: readonly string[]
  /** Looks for another build at each page, so that whoever works on the console only reloads. */
  reread: boolean
}

/**
 * Serves /console/: its assets, and for every other address the one page, which has the routes. Undefined where it was not
 * built.
 */
export const makeConsole = async ({
  authOrigins,
  storeOrigins,
  reread,
}: ConsoleOptions): Promise<RequestHandler | undefined> => {
  const policy = makeConsolePolicy(authOrigins, storeOrigins)
  let pages = await loadPages('console')
  if (!pages.has(INDEX)) return undefined
  return async (request, response) => {
    const { method, path, baseUrl, headers, originalUrl } = request
    if (method !== 'GET' && method !== 'HEAD')
      throw errors.methodNotAllowed(method, baseUrl + path, ['GET', 'HEAD'])
    // Addresses in the page are below the one with the slash.
    if (originalUrl.split('?')[0] === baseUrl) return response.redirect(`${baseUrl}/`)
    const isAsset = path.startsWith('/assets/')
    if (reread && !isAsset) pages = await loadPages('console')
    const page = pages.get(isAsset ? path.slice(1) : INDEX)
    if (page === undefined) throw errors.routeNotFound(baseUrl + path)
    await sendPage(page, policy, { incoming: request, headers }).stream(response)
  }
}

const INDEX = 'index.html'

/**
 * Makes the content security policy of the console: nothing inline, no other origin but the issuer's, no frame
 * around the pages, and no text becomes HTML but the empty one, which React Aria writes to empty the box of its
 * announcer. Pictures and videos may also come from the origins of a store that callers are sent to.
 */
export const makeConsolePolicy = (
  authOrigins: readonly string[],
  storeOrigins: readonly string[],
): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    ["img-src 'self' blob: data:", ...storeOrigins].join(' '),
    ["media-src 'self' blob:", ...storeOrigins].join(' '),
    "font-src 'self'",
    ["connect-src 'self'", ...authOrigins].join(' '),
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types default',
  ].join('; ')
