import type { LookupAddress } from 'node:dns'
import { isIP, connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { buildConnector } from 'undici'
import { untilAborted } from '../domain/until-aborted.ts'
import type { IsAllowedAddress } from './address.ts'
import { OUTBOUND_ERRORS, OutboundError, type OutboundErrorKind } from './error.ts'
import { describeConnectFailure, describeDnsFailure, describeTlsFailure } from './failure-detail.ts'
import { openTunnel, type Connected, type Proxy } from './proxy.ts'
import { resolveBySystem, type Resolve } from './resolver.ts'

/** One connection to open. Only `addresses` may be dialled: they were checked, the host is for messages and TLS. */
export interface Dial {
  host: string
  port: number
  addresses: readonly string[]
  signal: AbortSignal
}

/** Network below the guard: the system in production, a server on loopback where redirects and TLS are tested. */
export interface Network {
  resolve: Resolve
  openSocket: (dial: Dial) => Socket
  /** The origin whose addresses are not checked. */
  trusted?: string | undefined
  /** Certificate authorities in PEM, in place of the system's. */
  ca?: string
  /** Way to all hosts that it is not bypassed for. */
  proxy?: Proxy | undefined
}

/** Follows a connection while it is made, for the record and the deadlines of an attempt. */
export interface ConnectionWatch {
  /** The address that is being dialled. The last one counts. */
  onDial?: (address: string) => void
  /** Connected, and TLS begins. */
  onConnected?: () => void
  /** Connected and secured; nothing has been sent yet. */
  onReady: (socket: Socket) => void
}

export interface ConnectorOptions {
  isAllowed: IsAllowedAddress
  network: Network
  /** Addresses of the host, when it was looked up before. */
  addresses?: readonly string[] | undefined
  /** Ends look-up, connection and handshake; its reason is what they fail with. */
  signal: AbortSignal
  watch?: ConnectionWatch | undefined
}

/**
 * The connector of an undici Agent, which runs for every connection. A `lookup` handed to undici would not do: Node
 * never calls it for a literal address.
 */
export const makeConnector =
  (options: ConnectorOptions): buildConnector.connector =>
  ({ hostname, port, protocol }, callback) => {
    const secure = protocol === 'https:'
    const target = { host: hostname, port: Number(port || (secure ? 443 : 80)), secure }
    const isTrusted = originOf(target) === options.network.trusted
    void openConnection(target, isTrusted ? { ...options, isAllowed: () => true } : options).then(
      (socket) => callback(null, socket),
      (error: Error) => {
        if (error instanceof OutboundError) error.at = `${hostname}:${target.port}`
        callback(error, null)
      },
    )
  }

interface Target {
  host: string
  port: number
  secure: boolean
}

const originOf = ({ host, port, secure }: Target): string =>
  new URL(`http${secure ? 's' : ''}://${isIP(host) === 6 ? `[${host}]` : host}:${port}`).origin

const openConnection = async (target: Target, options: ConnectorOptions): Promise<Socket> => {
  const addresses = await listAllowedAddresses(target.host, options)
  const { proxy } = options.network
  const dial = { ...target, addresses }
  const { socket, peer } =
    proxy === undefined || proxy.isBypassed(target.host, addresses)
      ? await openAllowedSocket(dial, options)
      : await openProxiedSocket(dial, proxy, options)
  if (target.secure) options.watch?.onConnected?.()
  const ready = target.secure ? await openTls(socket, target.host, options) : socket
  peers.set(ready, peer)
  options.watch?.onReady(ready)
  return ready
}

/** Peers of connections: that of a socket may be a proxy. */
const peers = new WeakMap<Socket, string>()

/** Returns the address at the other end of a connection, or the name that a proxy was given. */
export const findPeer = (socket: Socket): string => peers.get(socket) ?? ''

/** One bad address rejects the name: the network, and so the name's owner, decides which of several is dialled. */
export const listAllowedAddresses = async (
  host: string,
  { isAllowed, network, addresses: known, signal }: Omit<ConnectorOptions, 'watch'>,
): Promise<readonly string[]> => {
  if (network.proxy?.takesName(host)) return [host]
  const addresses =
    isIP(host) === 0 ? (known ?? (await resolveHost(host, network, signal))) : [host]
  if (!addresses.every(isAllowed)) throw new OutboundError('address_refused')
  return addresses
}

const resolveHost = async (host: string, { resolve }: Network, signal: AbortSignal) => {
  const addresses = await untilAborted(resolve(host, signal), signal).catch((cause: unknown) => {
    throw signal.aborted ? signal.reason : failed('dns', describeDnsFailure(cause), cause)
  })
  if (addresses.length === 0) throw new OutboundError('dns')
  return addresses
}

/** The peer is checked again before a byte is sent: the pinned addresses are a promise, the peer is the fact. */
const openAllowedSocket = async (
  dial: Omit<Dial, 'signal'>,
  { isAllowed, network, signal, watch }: ConnectorOptions,
): Promise<Connected> => {
  signal.throwIfAborted()
  const { host, port, addresses } = dial
  // With one address the attempt may begin before there is a socket to listen to.
  watch?.onDial?.(addresses[0] ?? '')
  const socket = network.openSocket({ host, port, addresses, signal })
  socket.on('connectionAttempt', (address) => watch?.onDial?.(address))
  await established({ socket, event: 'connect', kind: 'connect', signal })
  const peer = socket.remoteAddress ?? ''
  watch?.onDial?.(peer)
  if (isAllowed(peer)) return { socket, peer }
  socket.destroy()
  throw new OutboundError('address_refused')
}

/** The proxy is where an operator says. It is given addresses that were checked. */
const openProxiedSocket = (
  { addresses, port }: Omit<Dial, 'signal'>,
  proxy: Proxy,
  { network, signal, watch }: ConnectorOptions,
): Promise<Connected> => {
  const own = { ...network, resolve: resolveBySystem, proxy: undefined }
  return openTunnel({
    proxy,
    connect: makeConnector({ isAllowed: () => true, network: own, signal }),
    hosts: addresses,
    port,
    signal,
    onDial: (host) => watch?.onDial?.(host),
  })
}

const openTls = async (
  socket: Socket,
  host: string,
  { network, signal }: ConnectorOptions,
): Promise<Socket> => {
  const secured = connectTls({
    socket,
    host,
    // Named so that NODE_TLS_REJECT_UNAUTHORIZED=0 changes nothing.
    rejectUnauthorized: true,
    ALPNProtocols: ['http/1.1'],
    // TLS allows names only; the certificate of a literal address is checked against `host`.
    ...(isIP(host) === 0 && { servername: host }),
    ...(network.ca !== undefined && { ca: network.ca }),
  })
  await established({ socket: secured, event: 'secureConnect', kind: 'tls', signal })
  return secured
}

interface Establishing {
  socket: Socket
  event: 'connect' | 'secureConnect'
  kind: OutboundErrorKind
  signal: AbortSignal
}

/** Waits for the event; on any error the socket is gone. */
const established = async ({ socket, event, kind, signal }: Establishing): Promise<void> => {
  const opened = new Promise<void>((resolve, reject) => {
    socket.once(event, () => resolve())
    // Stays for the socket's life: an error between two owners must not end the process.
    socket.on('error', reject)
    socket.once('close', () => reject(new Error('closed')))
  })
  await untilAborted(opened, signal).catch((cause: unknown) => {
    socket.destroy()
    if (signal.aborted) throw signal.reason
    const describe = kind === 'tls' ? describeTlsFailure : describeConnectFailure
    throw failed(kind, describe(cause), cause)
  })
}

const failed = (kind: OutboundErrorKind, detail: string | undefined, cause: unknown) =>
  new OutboundError(kind, detail && `${OUTBOUND_ERRORS[kind]}: ${detail}`, { cause })

/**
 * Dials the addresses in turn until one responds. Node's 250 ms for each but the last is too short for far hosts, and
 * it gives up on the one before instead of racing it.
 */
export const openSystemSocket = ({ host, port, addresses, signal }: Dial): Socket => {
  const pinned: LookupAddress[] = addresses.map((address) => ({ address, family: isIP(address) }))
  return connect({
    host,
    port,
    signal,
    noDelay: true,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: 1_000,
    lookup: (_host, _options, callback) => callback(null, pinned),
  })
}
