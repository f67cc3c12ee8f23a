import ipaddr from 'ipaddr.js'

import type { Caller } from './auth.ts'

/**
 * Whose Idempotency-Keys a request's key is among: the caller's, or those of the client's address when there is none.
 * A user id may look like an address, so each says which it is.
 */
export const principalOf = (caller: Caller | undefined, address: string | undefined): string =>
  caller ? `user:${caller.principal}` : `address:${networkOf(address ?? '')}`

/** An IPv6 client has a network of 64 bits and may take another address of it for each request. */
const networkOf = (text: string): string => {
  const plain = text.replace(/%.*$/, '')
  if (!ipaddr.isValid(plain)) return text
  const address = ipaddr.process(plain)
  if (address instanceof ipaddr.IPv4) return address.toString()
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${address.toString()}/64`).toString()}/64`
}
