import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/**
 * Returns true when this service may connect to an address, given as text without brackets; false for any other text.
 */
export type IsAllowedAddress = (address: string) => boolean

export interface AddressRules {
  /** Opens 127.0.0.0/8 and ::1, and not their spellings inside other IPv6 ranges. */
  allowLoopback: boolean
  /** Ranges or single addresses to reject beside the fixed ones. */
  deny: readonly string[]
}

type Range = ReturnType<typeof ipaddr.parseCIDR>

/**
 * Only addresses of the public internet pass: ipaddr.js must call them `unicast`, and IPv6 must lie in 2000::/3, the one
 * block IANA assigns from. ipaddr.js alone lets `::7f00:1` through, which is what `new URL` makes of `[::127.0.0.1]`.
 * @throws Error when an entry of `deny` is no range.
 */
export const makeIsAllowedAddress = ({ allowLoopback, deny }: AddressRules): IsAllowedAddress => {
  const isDenied = makeIsInRanges('OUTBOUND_DENY', [...ALWAYS_DENIED, ...deny])
  return (text) => {
    const plain = findPlainText(text)
    if (plain === undefined || isDenied(plain)) return false
    return isPublic(ipaddr.process(plain)) || (allowLoopback && isLoopback(plain))
  }
}

/**
 * Makes the function that finds addresses of ranges and single addresses; no other text is in one.
 * @param setting The setting that holds them, for the error.
 * @throws Error when one is no range.
 */
export const makeIsInRanges = (setting: string, texts: readonly string[]): IsAllowedAddress => {
  const ranges = texts.map((text) => parseRange(setting, text))
  return (text) => {
    const plain = findPlainText(text)
    if (plain === undefined) return false
    const address = ipaddr.process(plain)
    return ranges.some((range) => isIn(address, range))
  }
}

/**
 * The one spelling of an address, as `new URL` writes it: IPv6 in groups of hexadecimal digits. ipaddr.js reads
 * `::8.8.8.8` as 8.8.8.8, but the system dials the IPv6 address. A text with a zone (`fe80::1%eth0`) counts as no
 * address.
 */
const findPlainText = (text: string): string | undefined => {
  if (isIP(text) !== 6) return isIP(text) === 4 ? text : undefined
  return URL.canParse(`http://[${text}]`)
    ? new URL(`http://[${text}]`).hostname.slice(1, -1)
    : undefined
}

/** Azure serves its virtual machines at this public address (WireServer, DNS, health probes). */
const ALWAYS_DENIED = ['168.63.129.16/32']

const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3')

type Address = ReturnType<typeof ipaddr.process>

const isPublic = (address: Address): boolean =>
  address.range() === 'unicast' && (address.kind() === 'ipv4' || isIn(address, GLOBAL_UNICAST))

/** Parsed without unwrapping, so that `::ffff:127.0.0.1` is not loopback. */
export const isLoopback = (text: string): boolean =>
  isIP(text) !== 0 && ipaddr.parse(text).range() === 'loopback'

// match() throws when the two are of different kinds.
const isIn = (address: Address, range: Range): boolean =>
  address.kind() === range[0].kind() && address.match(range)

const parseRange = (setting: string, text: string): Range => {
  const [address = '', bits, ...rest] = text.split('/')
  const family = isIP(address)
  const width = family === 4 ? 32 : 128
  const length = bits === undefined ? width : Number(bits)
  const known = family !== 0 && rest.length === 0 && bits !== '' && Number.isInteger(length)
  // Addresses inside ::ffff:0:0/96 are checked as IPv4, so a range written that way would never match.
  if (!known || length < 0 || length > width || ipaddr.parse(address).range() === 'ipv4Mapped')
    throw new Error(
      `${setting} holds ${JSON.stringify(text)}; write ranges as 203.0.113.0/24 or 2001:db8::/32`,
    )
  return [ipaddr.parse(address), length]
}
