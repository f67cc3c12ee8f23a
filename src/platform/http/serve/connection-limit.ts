import type { Server } from 'node:http'
import { BlockList, isIPv6, type Socket } from 'node:net'

import { networkOf } from '../../adapters/network-of.ts'

export interface ConnectionLimits {
  /** Open at once. */
  total: number
  /** Open at once from one address, or one IPv6 network of 64 bits. */
  perAddress: number
}

export const CONNECTIONS: ConnectionLimits = { total: 2000, perAddress: 500 }

/** Time that an idle connection stays open, and the time when three quarters of all are taken. */
const KEEP_ALIVE_MS = 75_000
const CROWDED_KEEP_ALIVE_MS = 5000

/**
 * Closes connections beyond a limit, so that no client shuts all others out. `proxies` are addresses and networks that
 * may have any number, because each stands for many clients.
 */
export const limitConnections = (
  server: Server,
  { total, perAddress }: ConnectionLimits,
  proxies: readonly string[],
): void => {
  const spared = toBlockList(proxies)
  const open = new Map<string, number>()
  let all = 0
  const count = (network: string, change: 1 | -1) => {
    all += change
    server.keepAliveTimeout = all >= total * 0.75 ? CROWDED_KEEP_ALIVE_MS : KEEP_ALIVE_MS
    const ofNetwork = (open.get(network) ?? 0) + change
    if (ofNetwork === 0) open.delete(network)
    else open.set(network, ofNetwork)
    return ofNetwork
  }
  server.maxConnections = total
  server.on('connection', (socket: Socket) => {
    const { remoteAddress: address = '' } = socket
    const network = networkOf(address)
    const isTooMuch = count(network, 1) > perAddress && !spared.check(address, familyOf(address))
    socket.once('close', () => count(network, -1))
    if (isTooMuch) socket.destroy()
  })
}

const familyOf = (address: string) => (isIPv6(address) ? 'ipv6' : 'ipv4')

const toBlockList = (networks: readonly string[]): BlockList => {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', bits] = network.split('/')
    if (bits === undefined) list.addAddress(address, familyOf(address))
    else list.addSubnet(address, Number(bits), familyOf(address))
  }
  return list
}
