import { setTimeout as sleep } from 'node:timers/promises'

import type { RequestHandler } from 'express'

import { errors } from '../../domain/errors.ts'
import { loadPages, readHtml, sendPage } from '../docs/pages.ts'
import { copyOnce, copyText, sendCopy } from '../serve/copies.ts'
import { writeFacts, type DescribePage } from './page-facts.ts'

interface ConsoleOptions {
  publicUrl: string
  /** Origins of the issuer that the page calls. */
  authOrigins: readonly string[]
  /** Origins of the store that it is sent to for files. */
  storeOrigins: readonly string[]
  describePage: DescribePage
  /** Looks for another build at each page, so that whoever works on the console only reloads. */
  reread: boolean
}

/**
 * Serves /console/: its assets, and for every other address the one page, which has the routes. Undefined where it was not
 * built.
 */
export const makeConsole = async (options: ConsoleOptions): Promise<RequestHandler | undefined> => {
  const { authOrigins, storeOrigins, reread, publicUrl } = options
  const policy = makeConsolePolicy(authOrigins, storeOrigins)
  const describe = makeDescribe(options.describePage)
  const first = await loadBuild(publicUrl)
  if (!first) return undefined
  let build = first
  return async (request, response) => {
    const { method, path, baseUrl, headers, originalUrl } = request
    if (method !== 'GET' && method !== 'HEAD')
      throw errors.methodNotAllowed(method, baseUrl + path, ['GET', 'HEAD'])
    // Addresses in the page are below the one with the slash.
    if (originalUrl.split('?')[0] === baseUrl) return response.redirect(`${baseUrl}/`)
    const asked = { incoming: request, headers }
    const isAsset = path.startsWith('/assets/')
    if (reread && !isAsset) build = (await loadBuild(publicUrl)) ?? build
    if (isAsset) {
      const asset = build.pages.get(path.slice(1))
      if (!asset) throw errors.routeNotFound(baseUrl + path)
      return await sendPage(asset, policy, asked).stream(response)
    }
    const facts = await describe(path)
    const { html, page } = build
    const shown = facts ? copyOnce(writeFacts(html, facts), page.contentType) : page
    const copies = { ...shown, headers: { 'content-security-policy': policy } }
    await sendCopy(copies, asked).stream(response)
  }
}

/** The assets of a build, and its one page; undefined where there is none. */
const loadBuild = async (publicUrl: string) => {
  const pages = await loadPages('console')
  const index = pages.get('index.html')
  if (!index) return undefined
  const html = await readHtml(index, publicUrl)
  return { pages, html, page: await copyText(html, index.contentType) }
}

/** A page waits no longer for its description, and does without where the database is away. */
const DESCRIBE_MS = 300

const makeDescribe =
  (describePage: DescribePage): DescribePage =>
  (path) =>
    Promise.race([
      describePage(path).catch(() => undefined),
      sleep(DESCRIBE_MS, undefined, { ref: false }),
    ])

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
