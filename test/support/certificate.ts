import { generateKeyPairSync, sign } from 'node:crypto'
import { isIPv4 } from 'node:net'

/** PEM texts, as `node:tls` takes them. */
export interface Certificate {
  key: string
  cert: string
}

/**
 * Makes a self-signed P-256 certificate for host names and IPv4 addresses, valid until `days` from now. Written
 * in DER by hand, because Node makes keys but no certificates and not every machine has openssl.
 */
export const makeCertificate = (hosts: readonly string[], days = 9): Certificate => {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const name = sequence(set(sequence(COMMON_NAME, utf8('kiln test'))))
  const body = sequence(
    tagged(0, integer(2)),
    integer(1),
    sequence(ECDSA_WITH_SHA256),
    name,
    sequence(time(Date.now() - 9 * DAY_MS), time(Date.now() + days * DAY_MS)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(3, sequence(sequence(SUBJECT_ALT_NAME, octets(sequence(...hosts.map(altName)))))),
  )
  const signature = sign('sha256', body, privateKey)
  const certificate = sequence(body, sequence(ECDSA_WITH_SHA256), bits(signature))
  const lines = certificate.toString('base64').match(/.{1,64}/g) ?? []
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    cert: `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`,
  }
}

const DAY_MS = 86_400_000

const der = (tag: number, ...parts: Buffer[]): Buffer => {
  const content = Buffer.concat(parts)
  const { length } = content
  if (length > 0xffff) throw new Error('certificate too long')
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}

const sequence = (...parts: Buffer[]) => der(0x30, ...parts)
const set = (...parts: Buffer[]) => der(0x31, ...parts)
const tagged = (number: number, content: Buffer) => der(0xa0 + number, content)
const integer = (value: number) => der(0x02, Buffer.from([value]))
const utf8 = (text: string) => der(0x0c, Buffer.from(text))
const octets = (content: Buffer) => der(0x04, content)
const bits = (content: Buffer) => der(0x03, Buffer.from([0]), content)
const oid = (hex: string) => der(0x06, Buffer.from(hex, 'hex'))

const COMMON_NAME = oid('550403')
const SUBJECT_ALT_NAME = oid('551d11')
const ECDSA_WITH_SHA256 = oid('2a8648ce3d040302')

/** UTCTime, which is right until 2049. */
const time = (unixMs: number) => {
  const digits = new Date(unixMs).toISOString().replace(/\D/g, '').slice(2, 14)
  return der(0x17, Buffer.from(`${digits}Z`))
}

const altName = (host: string) =>
  isIPv4(host) ? der(0x87, Buffer.from(host.split('.').map(Number))) : der(0x82, Buffer.from(host))
