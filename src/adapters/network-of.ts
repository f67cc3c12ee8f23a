import ipaddr from 'ipaddr.js'

/**
 * Returns the part of an address that stands for one party: the address itself, or of IPv6 its network of 64 bits, in
 * which a party may take another address each time. Some proxies write the client's port behind it, which is another
 * one for each connection. All texts that are no address are one party.
 */
export const networkOf = (text: string): string => {
  const plain = text.replace(/^\[([^\]]*)\](:\d+)?$|^([\d.]+):\d+$/, '$1$3').replace(/%.*$/, '')
  if (!ipaddr.isValid(plain)) return 'unknown'
  const address = ipaddr.process(plain)
  if (address instanceof ipaddr.IPv4) return address.toString()
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${address.toString()}/64`).toString()}/64`
}
