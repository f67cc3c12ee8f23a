import { setMaxListeners } from 'node:events'
import { makeIsAllowedAddress } from './address.ts'
import type { Network } from './connector.ts'
import {
  download,
  read,
  type Downloaded,
  type DownloadOptions,
  type ReadOptions,
} from './download.ts'
import { locate, type Located, type LocateOptions } from './locate.ts'
import { makePool } from './pool.ts'
import { makeProxy, type ProxyRules } from './proxy.ts'
import { post, type Posted, type PostOptions } from './post.ts'
import { makeValidateUrl, type UrlValidation } from './url.ts'

export interface OutboundRules {
  /** OUTBOUND_ALLOW_LOOPBACK: opens 127.0.0.0/8, ::1 and the name localhost, on any port and over http. */
  allowLoopback: boolean
  /** OUTBOUND_PORTS: ports beside 443 and 8443. */
  ports: readonly number[]
  /** The one origin, such as http://upstream:8080, that is called wherever it is, because an operator has named it. */
  trusted?: string | undefined
  /** OUTBOUND_DENY: ranges such as 203.0.113.0/24 that are never dialled, loopback included. */
  deny: readonly string[]
  /** The only way out, where there is one. */
  proxy?: ProxyRules | undefined
}

/** The one way to an address that a caller named. */
export interface Outbound {
  /** Validates what needs no look-up: text, scheme, user, port, name and literal address. */
  validateUrl: (raw: string) => UrlValidation
  /** Fetches a URL into a new file, or throws an OutboundError and leaves no file. */
  download: (options: DownloadOptions) => Promise<Downloaded>
  /** Fetches a small URL into memory, or throws an OutboundError. */
  read: (options: ReadOptions) => Promise<Buffer>
  /** Looks up where a post would go, or why it would go nowhere; dials nothing. */
  locate: (options: LocateOptions) => Promise<Located>
  /** Sends JSON, or asks for it, once, following nothing; returns the response, or why there is none. */
  post: (options: PostOptions) => Promise<Posted>
  /** Ends the downloads, look-ups and posts under way, and every later one at once. */
  close: () => void
}

/** Separate from `makeOutbound` so that tests bring a network of their own while the rules stay whole. */
export const makeClient = (rules: OutboundRules, given: Network): Outbound => {
  const network = { ...given, trusted: rules.trusted, proxy: rules.proxy && makeProxy(rules.proxy) }
  const isAllowed = makeIsAllowedAddress(rules)
  const validateUrl = makeValidateUrl({ ...rules, isAllowed })
  const closing = new AbortController()
  // Everything under way listens; Node takes more than 10 for a leak and says so.
  setMaxListeners(0, closing.signal)
  const pool = makePool()
  const guard = { validateUrl, isAllowed, network, closing: closing.signal }
  return {
    validateUrl: (raw) => validateUrl(raw),
    download: (options) => download(guard, options),
    read: (options) => read(guard, options),
    locate: (options) => locate(guard, options),
    post: (options) => post({ ...guard, pool }, options),
    close: () => {
      closing.abort()
      void pool.destroy()
    },
  }
}
