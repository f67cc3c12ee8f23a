import ipaddr from 'ipaddr.js'

/**
 * What one party has of an address: the address itself, or of IPv6 its network of 64 bits, in which it may take another
 * address each time. A text that is no address stays as it is.
 */
export const networkOf = (text: string): string => {
  const plain = text.replace(/%.*$/, '')
  if (!ipaddr.isValid(plain)) return text
  const address = ipaddr.process(plain)
  if (address instanceof ipaddr.IPv4) return address.toString()
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${address.toString()}/64`).toString()}/64`
}
