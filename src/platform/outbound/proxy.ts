import { isIP, type Socket } from 'node:net'
import { Client, type buildConnector } from 'undici'

import { OperatorError } from '../process/operator-error.ts'
import { makeIsInRanges } from './address.ts'
import { OUTBOUND_ERRORS, OutboundError } from './error.ts'

export interface ProxyRules {
  /** OUTBOUND_PROXY: http or https, with user and password where it asks for them. */
  url: string
  /** OUTBOUND_PROXY_RESOLVES: it is given names, and not the addresses that this machine finds for them. */
  resolves: boolean
  /** OUTBOUND_NO_PROXY: names, suffixes with a dot before them, addresses and ranges. */
  bypass: readonly string[]
}

/** The way out of a network whose machines reach no others by themselves. */
export interface Proxy {
  /** With neither user nor password. */
  origin: string
  /** Value of the header Proxy-Authorization. */
  authorization: string | undefined
  /** True when a host is called without the proxy; `addresses` are those that are known of it. */
  isBypassed: (host: string, addresses: readonly string[]) => boolean
  /** True when the proxy is given the name of a host. */
  takesName: (host: string) => boolean
}

/** A proxy would look for these on its own machine. */
const NEVER_PROXIED = ['localhost', '127.0.0.0/8', '::1']

/** @throws Error when the URL, or an entry of `bypass`, cannot be read. */
export const makeProxy = ({ url, resolves, bypass }: ProxyRules): Proxy => {
  const { origin, username, password } = new URL(url)
  const entries = [...NEVER_PROXIED, ...bypass.map((entry) => entry.toLowerCase())]
  const isInRange = makeIsInRanges('OUTBOUND_NO_PROXY', entries.filter(isRange))
  const names = entries.filter((entry) => !isRange(entry))
  const isBypassed: Proxy['isBypassed'] = (host, addresses) =>
    names.some((name) => (name.startsWith('.') ? host.endsWith(name) : host === name)) ||
    isInRange(host) ||
    (addresses.length > 0 && addresses.every(isInRange))
  const credentials = [username, password].map(decodeURIComponent).join(':')
  return {
    origin,
    authorization:
      credentials === ':' ? undefined : `Basic ${Buffer.from(credentials).toString('base64')}`,
    isBypassed,
    takesName: (host) => resolves && isIP(host) === 0 && !isBypassed(host, []),
  }
}

const isRange = (entry: string): boolean => isIP(entry) !== 0 || entry.includes('/')

export interface Tunnel {
  proxy: Proxy
  /** Opens the connection to the proxy itself. */
  connect: buildConnector.connector
  /** Addresses that are tried in turn, or a name that the proxy is to resolve. */
  hosts: readonly string[]
  port: number
  signal: AbortSignal
  onDial: (host: string) => void
}

/**
 * Has the proxy connect to one of the hosts.
 * @throws OutboundError whose cause is an OperatorError, or the reason of the signal.
 */
export const openTunnel = async (tunnel: Tunnel): Promise<{ socket: Socket; peer: string }> => {
  const { origin } = tunnel.proxy
  let failure: OutboundError | undefined
  for (const peer of tunnel.hosts) {
    tunnel.onDial(peer)
    const authority = `${isIP(peer) === 6 ? `[${peer}]` : peer}:${tunnel.port}`
    const { statusCode, socket } = await sendConnect(tunnel, authority)
    // undici types it for all kinds of connections; ours are sockets.
    if (statusCode >= 200 && statusCode <= 299) return { socket: socket as Socket, peer }
    socket.destroy()
    failure = noWayOut(
      'does not let it through',
      `OUTBOUND_PROXY ${origin} responds to CONNECT ${authority} with status ${statusCode}: ${adviseStatus(statusCode)}`,
    )
    if (statusCode < 500) break
  }
  throw failure ?? new OutboundError('connect')
}

const sendConnect = async ({ proxy, connect, signal }: Tunnel, authority: string) => {
  const { origin, authorization } = proxy
  const credentials = authorization === undefined ? {} : { 'proxy-authorization': authorization }
  const client = new Client(origin, { connect })
  return await client
    .connect({ path: authority, headers: { host: authority, ...credentials }, signal })
    .catch((cause: unknown) => {
      signal.throwIfAborted()
      const advice = `OUTBOUND_PROXY ${origin} does not respond: start it, or correct the setting`
      throw noWayOut('does not respond', advice, cause)
    })
}

/** Makes the error whose message callers read, and whose cause the operator. */
const noWayOut = (what: string, advice: string, cause?: unknown): OutboundError =>
  new OutboundError('connect', `${OUTBOUND_ERRORS.connect}: the proxy of this service ${what}`, {
    cause: new OperatorError(advice, { cause }),
  })

const adviseStatus = (status: number): string => {
  if (status === 407) return 'correct user and password in the setting'
  return status >= 500
    ? 'it cannot reach that itself'
    : 'allow it there, or add the host to OUTBOUND_NO_PROXY'
}

/** Says what is wrong with the value of OUTBOUND_PROXY, which may hold a password. */
export const findProxyIssue = (url: string): string | undefined => {
  if (url === '' || isProxyUrl(url)) return undefined
  return 'must be http://host:port or https://host:port, with user:password@ before the host where it asks for them'
}

const isProxyUrl = (text: string): boolean => {
  try {
    const { protocol, pathname, search, hash, username, password } = new URL(text)
    decodeURIComponent(username + password)
    return /^https?:$/.test(protocol) && pathname + search + hash === '/'
  } catch {
    return false
  }
}

/** Says what is wrong with an entry of OUTBOUND_NO_PROXY. */
export const findBypassIssue = (entry: string): string | undefined => {
  if (!isRange(entry))
    return /^\.?[a-z\d_-]+(\.[a-z\d_-]+)*$/i.test(entry)
      ? undefined
      : `must be names, suffixes such as .example.com, addresses or networks, got ${entry}`
  try {
    makeIsInRanges('OUTBOUND_NO_PROXY', [entry])
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}
