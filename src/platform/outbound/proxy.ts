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
  const { origin, credentials } = readUrl(url)
  const entries = [...NEVER_PROXIED, ...bypass.map((entry) => entry.toLowerCase())]
  const wrong = entries.find((entry) => !isRange(entry) && !NAME.test(entry))
  if (wrong !== undefined)
    throw new Error(`OUTBOUND_NO_PROXY holds ${wrong}; write names, .suffixes or 10.0.0.0/8`)
  const isInRange = makeIsInRanges('OUTBOUND_NO_PROXY', entries.filter(isRange))
  const names = entries.filter((entry) => !isRange(entry))
  const isBypassed: Proxy['isBypassed'] = (host, addresses) =>
    names.some((name) => (name.startsWith('.') ? host.endsWith(name) : host === name)) ||
    isInRange(host) ||
    (addresses.length > 0 && addresses.every(isInRange))
  return {
    origin,
    authorization:
      credentials === ':' ? undefined : `Basic ${Buffer.from(credentials).toString('base64')}`,
    isBypassed,
    takesName: (host) => resolves && isIP(host) === 0 && !isBypassed(host, []),
  }
}

const NAME = /^\.?[a-z\d_-]+(\.[a-z\d_-]+)*$/

/** Its errors show nothing of the URL, which may hold a password. */
const readUrl = (text: string): { origin: string; credentials: string } => {
  try {
    const { protocol, origin, href, username, password } = new URL(text)
    const credentials = [username, password].map(decodeURIComponent).join(':')
    if (/^https?:$/.test(protocol) && href.endsWith(`${new URL(origin).host}/`))
      return { origin, credentials }
  } catch {}
  throw new Error('OUTBOUND_PROXY must be http://user:password@host:port, or https, without a path')
}

const isRange = (entry: string): boolean => isIP(entry) !== 0 || entry.includes('/')

export interface Connected {
  socket: Socket
  /** The address at its other end, or the name that a proxy was given. */
  peer: string
}

interface Tunnel {
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
export const openTunnel = async (tunnel: Tunnel): Promise<Connected> => {
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
