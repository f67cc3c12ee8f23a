import { isIP } from 'node:net'
import { type IsAllowedAddress, isLoopback } from './address.ts'

/** `rejected` says what the URL must be, to stand behind a field: "must begin with https:". */
export type UrlValidation = { url: URL; rejected?: never } | { url?: never; rejected: string }

/** Validates a URL as far as no look-up is needed. `base` is the URL that a redirect came from. */
export type ValidateUrl = (raw: string, base?: URL) => UrlValidation

export interface UrlRules {
  isAllowed: IsAllowedAddress
  /** Opens http and every port on 127.0.0.0/8, ::1 and the name localhost. */
  allowLoopback: boolean
  /** Ports beside 443 and 8443. */
  ports: readonly number[]
  /** The origin that none of the rules is for. */
  trusted?: string | undefined
}

const MAX_CHARACTERS = 2_048
const PORTS = [443, 8443]
const PRIVATE_SUFFIXES = ['.localhost', '.local', '.internal', '.home.arpa']

/**
 * Text first, then one parse, then the parts of the result: every spelling of an address that `new URL` understands has
 * become the address by then, so nothing here looks for spellings.
 */
export const makeValidateUrl = (rules: UrlRules): ValidateUrl => {
  const ports = [...new Set([...PORTS, ...rules.ports])]
  return (raw, base) => {
    const textIssue = findTextIssue(raw)
    if (textIssue !== undefined) return { rejected: textIssue }
    const url = findUrl(raw, base)
    if (url === undefined) return { rejected: 'must be an absolute URL' }
    url.hash = ''
    if (url.origin === rules.trusted && url.username + url.password === '') return { url }
    const rejected = findIssue(url, { ...rules, ports }) ?? findHostIssue(url, rules)
    return rejected === undefined ? { url } : { rejected }
  }
}

const findTextIssue = (raw: string): string | undefined => {
  // No character is longer than two code units, so a text of megabytes need not be taken apart to be counted.
  if (raw.length > 2 * MAX_CHARACTERS || Array.from(raw).length > MAX_CHARACTERS)
    return 'must be at most 2,048 characters'
  if (/[\p{Cc}\s\\]/u.test(raw)) return 'must hold no control character, white space or backslash'
  return undefined
}

const findUrl = (raw: string, base: URL | undefined): URL | undefined => {
  try {
    return new URL(raw, base)
  } catch {
    return undefined
  }
}

const findIssue = (url: URL, { allowLoopback, ports }: UrlRules): string | undefined => {
  const loopback = allowLoopback && isLoopbackHost(hostOf(url))
  if (url.protocol !== 'https:' && !(loopback && url.protocol === 'http:'))
    return 'must begin with https:'
  if (url.username !== '' || url.password !== '') return 'must carry no user or password'
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
