import { once } from 'node:events'
import { connect, isIP, type Socket } from 'node:net'
import { connect as connectTls, type ConnectionOptions } from 'node:tls'

import { UNKNOWN_AUTHORITY } from '../outbound/authority.ts'
import { describeTlsFailure } from '../outbound/failure-detail.ts'
import { inTime, LateError } from '../domain/in-time.ts'
import type { TemporalOptions } from '../settings/temporal.ts'
import { findGrpcError, GRPC } from './grpc-error.ts'

const DIAL_MS = 2000
/** A server of HTTP/2 speaks first, and one that takes no certificate of ours says so in that time. */
const FIRST_BYTE_MS = 500

/**
 * Returns why Temporal cannot be called and what an operator does about it; undefined when nothing is found. gRPC does not
 * say why a connection failed, so each step is tried apart: port, TLS, certificate, and what the server sent in `error`.
 */
export const adviseTemporal = async (
  target: TemporalOptions,
  error?: unknown,
): Promise<string | undefined> =>
  (await adviseDial(target)) ??
  (await adviseTls(target)) ??
  adviseStatus(target, error) ??
  adviseSilence(target, findGrpcError(error)?.code)

const splitAddress = (address: string): { host: string; port: number } => {
  const [, host = address, port = '7233'] = /^\[?(.*?)\]?:(\d+)$/.exec(address) ?? []
  return { host, port: Number(port) }
}

const adviseDial = async ({ address }: TemporalOptions): Promise<string | undefined> => {
  const failure = await tryOut(connect(splitAddress(address)), 'connect')
  return (
    failure &&
    `Temporal at ${address} does not respond (${failure.code ?? failure.message}): start Temporal, or correct TEMPORAL_ADDRESS`
  )
}

interface Failure {
  code?: string
  message: string
}

/** Waits for one event of a connection, and returns what came in its place. */
const tryOut = async (socket: Socket, event: string): Promise<Failure | undefined> => {
  try {
    await inTime(once(socket, event), DIAL_MS, 'it')
    if (event === 'secureConnect') await awaitFirstByte(socket)
    return undefined
  } catch (error) {
    return error instanceof AggregateError ? (error.errors[0] as Failure) : (error as Failure)
  } finally {
    socket.destroy()
  }
}

const awaitFirstByte = async (socket: Socket): Promise<void> => {
  const closed = once(socket, 'end').then(() => {
    throw Object.assign(new Error('it closed the connection'), { code: 'ALERT_CLOSED' })
  })
  const first = Promise.race([once(socket, 'data'), closed])
  await inTime(first, FIRST_BYTE_MS, 'it').catch((error: unknown) => {
    if (!(error instanceof LateError)) throw error
  })
}

const adviseTls = async (target: TemporalOptions): Promise<string | undefined> => {
  const { address, apiKey } = target
  const { host, port } = splitAddress(address)
  const where = `Temporal at ${address}`
  const tls = target.tls ?? apiKey !== undefined
  const common: ConnectionOptions = { host, port, ALPNProtocols: ['h2'] }
  if (!tls) {
    const failure = await tryOut(
      connectTls({ ...common, rejectUnauthorized: false }),
      'secureConnect',
    )
    const isTls = !failure || /ALERT/.test(failure.code ?? '')
    return isTls
      ? `${where} speaks TLS, and TEMPORAL_TLS is not set: set TEMPORAL_TLS=true, and TEMPORAL_TLS_SERVER_CA_CERT_PATH where an authority of your own signs`
      : undefined
  }
  const {
    serverRootCACertificate: ca,
    serverNameOverride,
    clientCertPair,
  } = tls === true ? {} : tls
  const name = serverNameOverride ?? (isIP(host) === 0 ? host : undefined)
  const failure = await tryOut(
    connectTls({
      ...common,
      ...(name !== undefined && { servername: name }),
      ...(ca && { ca: Buffer.from(ca) }),
      ...(clientCertPair && {
        cert: Buffer.from(clientCertPair.crt),
        key: Buffer.from(clientCertPair.key),
      }),
    }),
    'secureConnect',
  )
  return (
    failure &&
    `${where}: ${explain(failure, { isOwnAuthority: Boolean(ca), isKnown: Boolean(clientCertPair) })}`
  )
}

interface Given {
  isOwnAuthority: boolean
  /** A certificate was shown. */
  isKnown: boolean
}

const explain = ({ code = '', message }: Failure, given: Given): string => {
  if (/ALERT/.test(code))
    return given.isKnown
      ? `it rejects the certificate in TEMPORAL_TLS_CLIENT_CERT_PATH (${toWords(code)}): renew it, or have its authority added there`
      : `it asks for a client certificate (${toWords(code)}): set TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH`
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return `${message}: set TEMPORAL_TLS_SERVER_NAME to a name in it`
  if (/^(ERR_SSL_|EPROTO|ECONNRESET)/.test(code))
    return 'it does not speak TLS there: unset TEMPORAL_TLS, the TEMPORAL_TLS_ settings and TEMPORAL_API_KEY, or correct TEMPORAL_ADDRESS'
  if (UNKNOWN_AUTHORITY.test(code))
    return given.isOwnAuthority
      ? 'its certificate is not signed by the authority in TEMPORAL_TLS_SERVER_CA_CERT_PATH: put the right one there'
      : 'its certificate is signed by no authority that Node knows: set TEMPORAL_TLS_SERVER_CA_CERT_PATH'
  return `${describeTlsFailure({ code }) ?? message}: have it renewed, or check this machine's clock`
}

/** Says what did not respond, where the status of a call is that nothing did. */
export const adviseSilence = (
  { address }: Pick<TemporalOptions, 'address'>,
  code: number | undefined,
): string | undefined =>
  code === GRPC.DEADLINE_EXCEEDED || code === GRPC.UNAVAILABLE
    ? `Temporal at ${address} does not respond in time: start Temporal, or correct TEMPORAL_ADDRESS`
    : undefined

const toWords = (code: string): string =>
  code
    .replace(/^ERR_SSL_(TLSV1\d?_|SSLV3_)?ALERT_/, '')
    .replaceAll('_', ' ')
    .toLowerCase()

export const adviseStatus = (
  { address, apiKey, namespace }: TemporalOptions,
  error: unknown,
): string | undefined => {
  const { code, details } = findGrpcError(error) ?? {}
  const where = `Temporal at ${address}`
  if (code === GRPC.NOT_FOUND && /namespace/i.test(details ?? ''))
    return `${where} has no namespace ${namespace}: create it with \`temporal operator namespace create -n ${namespace} --address ${address}\`, or correct TEMPORAL_NAMESPACE`
  if (code === GRPC.UNAUTHENTICATED || code === GRPC.PERMISSION_DENIED)
    return apiKey === undefined
      ? `${where} lets nobody in without a key (${details}): set TEMPORAL_API_KEY`
      : `${where} rejects the key in TEMPORAL_API_KEY for the namespace ${namespace} (${details}): correct either`
  return undefined
}
