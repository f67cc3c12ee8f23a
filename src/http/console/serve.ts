import type { RequestHandler } from 'express'

import { errors } from '../../domain/shared/errors.ts'
import { sendPage } from '../docs/send-page.ts'
import { loadPages } from '../docs/pages.ts'
import { makeConsolePolicy } from './policy.ts'

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
