import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { createSecureContext, type ConnectionOptions, type SecureContext } from 'node:tls'

import { isPair, readPem } from './pem.ts'

/** Address of a database as the driver takes it: the parameters of TLS are options. */
export interface DatabaseAddress {
  url: string
  ssl: false | ConnectionOptions
}

const MODES = ['disable', 'require', 'verify-ca', 'verify-full']
const NAMES = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey'] as const

/** Parameters of libpq that the driver would send to the server, which rejects them. `ssl` is the driver's own. */
const UNKNOWN = /^(ssl(?!negotiation$)|gss|krb|channel_binding|require_auth)/

/**
 * Reads the TLS parameters of a postgres:// address with the meaning that libpq gives them: the driver checks no certificate with
 * `require`, names with `verify-ca`, and compares those of an IP address with `localhost`. Files are read now and again
 * for each connection; one that cannot be used leaves what was read before. Throws an Error that says what is wrong.
 */
export const readDatabaseAddress = (url: string): DatabaseAddress => {
  const [, address = '', query = ''] = /^([^?]*)\??(.*)$/s.exec(url) ?? []
  const parameters = new URLSearchParams(query)
  const given: Parameters = Object.fromEntries([...parameters].filter(([, value]) => value !== ''))
  for (const name of NAMES) parameters.delete(name)
  const rest = parameters.toString()
  const hosts = listHosts(address)
  checkParameters(given, hosts)
  return {
    url: rest === '' ? address : `${address}?${rest}`,
    ssl: readMode(given) === 'disable' ? false : makeOptions(given, hosts),
  }
}

type Parameters = Partial<Record<string, string>>

/** libpq's own default, `prefer`, leaves the choice to whoever is in between. */
const readMode = ({ sslmode, sslrootcert }: Parameters): string =>
  sslmode ?? (sslrootcert === 'system' ? 'verify-full' : 'disable')

const listHosts = (address: string): string[] =>
  (/^\w+:\/\/(?:[^/]*@)?([^/]*)/.exec(address)?.[1] ?? '')
    .split(',')
    .map((host) => host.replace(/:\d*$/, ''))

const checkParameters = (given: Parameters, hosts: string[]): void => {
  const { sslmode, sslrootcert, sslcert, sslkey } = given
  const mode = readMode(given)
  const unknown = Object.keys(given).filter(
    (name) => UNKNOWN.test(name) && !NAMES.some((known) => known === name),
  )
  const rules: [broken: boolean, message: string][] = [
    [unknown.includes('ssl'), 'ssl must not be set: set sslmode to verify-full or disable'],
    [unknown.length > 0, `${unknown.join(', ')} must not be set: nothing here reads it`],
    [
      !MODES.includes(mode),
      `sslmode must be ${MODES.join(', ')}, got ${mode}${/^(allow|prefer)$/.test(mode) ? ', which anybody in between can turn into disable' : ''}`,
    ],
    [
      mode === 'disable' && sslmode === undefined && Boolean(sslrootcert ?? sslcert ?? sslkey),
      'sslmode is absent, so that no certificate is used: set it to verify-full',
    ],
    [
      sslrootcert === 'system' && mode !== 'verify-full',
      'sslmode must be verify-full where sslrootcert is system',
    ],
    [
      (sslcert === undefined) !== (sslkey === undefined),
      `${sslcert === undefined ? 'sslcert' : 'sslkey'} is absent: a client certificate and its key go together`,
    ],
    [
      // The driver gives the check no address to compare with but one that is fixed.
      mode === 'verify-full' &&
        (hosts.includes('') || (hosts.length > 1 && hosts.some((host) => isIP(host) !== 0))),
      'sslmode=verify-full needs a host, and names where there are several',
    ],
  ]
  const broken = rules.find(([isBroken]) => isBroken)
  if (broken) throw new Error(broken[1])
}

const makeOptions = (given: Parameters, [host = '']: string[]): ConnectionOptions => {
  const mode = readMode(given)
  const isChecked = mode !== 'require' || given['sslrootcert'] !== undefined
  let latest = readContext(given)
  return {
    // A name is compared by the servername that the driver gives; it gives none for an address.
    host,
    rejectUnauthorized: isChecked,
    ...(mode !== 'verify-full' && { checkServerIdentity: () => undefined }),
    // The driver copies the options for each connection.
    get secureContext() {
      try {
        latest = readContext(given)
      } catch {
        // A file that is being replaced.
      }
      return latest
    },
  }
}

const readContext = ({ sslrootcert, sslcert, sslkey }: Parameters): SecureContext => {
  const ca = sslrootcert === 'system' ? undefined : readFile('sslrootcert', sslrootcert)
  const cert = readFile('sslcert', sslcert)
  const key = readFile('sslkey', sslkey)
  if (cert !== undefined && key !== undefined && !isPair(cert, key))
    throw new Error('sslkey is not the key of the certificate in sslcert')
  return createSecureContext({ ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) })
}

const readFile = (name: (typeof NAMES)[number], path: string | undefined): string | undefined => {
  if (path === undefined) return undefined
  const what = name === 'sslkey' ? 'private key' : 'certificate'
  try {
    return readPem(what, () => readFileSync(path, 'utf8'))
  } catch (error) {
    throw new Error(`${name} ${(error as Error).message}`, { cause: error })
  }
}
