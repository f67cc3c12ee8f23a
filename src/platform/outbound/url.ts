import { isIP } from 'node:net'
import { ADDRESS_MAX } from '../domain/address.ts'
import { type IsAllowedAddress, isLoopback } from './address.ts'

/** `rejected` says what the URL must be, to stand behind a field: "must begin with https:". */
export type UrlValidation = { url: URL; rejected?: never } | { url?: never; rejected: string }

/** Validates a URL as a caller types it, as far as no look-up is needed; a URL itself is one that a server redirects to. */
export type ValidateUrl = (raw: string | URL) => UrlValidation

export interface UrlRules {
  isAllowed: IsAllowedAddress
  /** Opens http and every port on 127.0.0.0/8, ::1 and the name localhost. */
  allowLoopback: boolean
  /** Ports beside 443 and 8443. */
  ports: readonly number[]
  /** The origin that none of the rules is for. */
  trusted?: string | undefined
}

const PORTS = [443, 8443]
const PRIVATE_SUFFIXES = ['.localhost', '.local', '.internal', '.home.arpa']

/**
 * Text first, then one parse, then the parts of the result: every spelling of an address that `new URL` understands has
 * become the address by then, so nothing here looks for spellings.
 */
export const makeValidateUrl = (rules: UrlRules): ValidateUrl => {
  const ports = [...new Set([...PORTS, ...rules.ports])]
  return (raw) => {
    const url = typeof raw === 'string' ? parseTyped(raw.trim()) : raw
    if (typeof url === 'string') return { rejected: url }
    url.hash = ''
    if (url.origin === rules.trusted && url.username + url.password === '') return { url }
    const rejected = findIssue(url, { ...rules, ports }) ?? findHostIssue(url, rules)
    return rejected === undefined ? { url } : { rejected }
  }
}

/** Returns the URL, or what is wrong with its text. */
const parseTyped = (text: string): URL | string => {
  // No character is longer than two code units, so a text of megabytes need not be taken apart to be counted.
  const length = text.length > 2 * ADDRESS_MAX ? text.length : Array.from(text).length
  if (length > ADDRESS_MAX)
    return `must be at most ${ADDRESS_MAX.toLocaleString('en')} characters, not ${length.toLocaleString('en')}`
  if (/[\p{Cc}\s\\]/u.test(text)) return 'must hold no control character, white space or backslash'
  return URL.canParse(text) ? new URL(text) : 'must be an absolute URL'
}

/**
 * Reads a `Location` as browsers do: relative to the URL before, bytes beyond ASCII and blanks percent-encoded as they
 * came. Undefined when it is no address.
 * @param location The header, a byte for each character (latin1).
 */
export const parseLocation = (location: string, base: URL): URL | undefined => {
  const encoded = location
    .trim()
    .replaceAll(
      /[^\x21-\x7e]/g,
      (character) => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
    )
  return URL.canParse(encoded, base.href) ? new URL(encoded, base) : undefined
}

const findIssue = (url: URL, { allowLoopback, ports }: UrlRules): string | undefined => {
  const loopback = allowLoopback && isLoopbackHost(hostOf(url))
  if (url.protocol !== 'https:' && !(loopback && url.protocol === 'http:'))
    return 'must begin with https:'
  if (url.username !== '' || url.password !== '') return 'must carry no user or password'
  if (url.port === '0') return 'must use a port above 0'
  if (!loopback && !ports.includes(Number(url.port || 443)))
    return `must use one of the ports ${ports.join(', ')}`
  return undefined
}

const findHostIssue = (url: URL, { isAllowed, allowLoopback }: UrlRules): string | undefined => {
  const host = hostOf(url)
  if (isIP(host) !== 0) return isAllowed(host) ? undefined : 'must name a public address'
  if (isPrivateName(host) && !(allowLoopback && host === 'localhost'))
    return 'must name a public host'
  if (url.hostname !== host) url.hostname = host
  return undefined
}

/** The host as `node:net` takes it: no brackets, no dot at its end. */
export const hostOf = ({ hostname }: URL): string =>
  hostname.startsWith('[') ? hostname.slice(1, -1) : hostname.replace(/\.$/, '')

export const isLoopbackHost = (host: string): boolean => host === 'localhost' || isLoopback(host)

/** An empty label counts as private, too: without its last dot, `1.2.3.4..` would turn from a name into an address. */
const isPrivateName = (host: string): boolean => {
  const labels = host.split('.')
  if (labels.length < 2 || labels.includes('')) return true
  return PRIVATE_SUFFIXES.some((suffix) => `.${host}`.endsWith(suffix))
}
