import { isIPv4 } from 'node:net'

import ipaddr from 'ipaddr.js'

/**
 * Reads an IP address in its one spelling; undefined for what is none. Some proxies write the client's port behind it,
 * which is another one for each connection.
 */
const readIp = (text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined => {
  const plain = text.replace(/^\[([^\]]*)\](:\d+)?$|^([\d.]+):\d+$/, '$1$3').replace(/%.*$/, '')
  return ipaddr.isValid(plain) ? ipaddr.process(plain) : undefined
}

export const readAddress = (text = ''): string | undefined => readIp(text)?.toString()

/**
 * Returns the part of an address that stands for one party: the address itself, or of IPv6 its network of 64 bits, in
 * which a party may take another address each time. All texts that are no address are one party.
 */
export const networkOf = (text: string): string => {
  if (isIPv4(text)) return text
  const address = readIp(text)
  if (!address) return 'unknown'
  if (address instanceof ipaddr.IPv4) return address.toString()
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${address.toString()}/64`).toString()}/64`
}
