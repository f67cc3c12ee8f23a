import { readFileSync } from 'node:fs'

import { loadClientConnectConfig, type ClientConnectConfig } from '@temporalio/envconfig'

import type { SettingIssue } from './issue.ts'
import { isPair, readPem } from './pem.ts'

/** Options of a connection to Temporal, with the certificates themselves. */
export type TemporalOptions = ClientConnectConfig['connectionOptions'] & {
  address: string
  namespace: string
}

type Environment = NodeJS.ProcessEnv

/**
 * Reads how Temporal is reached from the variables of its SDKs, and from a profile where one is named. Throws when a file
 * cannot be read or holds what is not known.
 */
export const readTemporal = (environment: Environment = process.env): TemporalOptions => {
  const given = keepTemporal(environment)
  const { connectionOptions, namespace = 'default' } = loadClientConnectConfig({
    overrideEnvVars: given,
    // A service uses the profile of somebody's command line only where it is named.
    disableFile: !isProfileNamed(given),
    configFileStrict: true,
  })
  return { ...connectionOptions, address: connectionOptions.address ?? '', namespace }
}

const keepTemporal = (environment: Environment): Record<string, string> =>
  Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) =>
      name.startsWith('TEMPORAL_') && value
        ? // The SDK takes TRUE for false.
          [[name, name === 'TEMPORAL_TLS' ? value.toLowerCase() : value]]
        : [],
    ),
  )

/** The settings that say more about a server than its address. */
export const pickSecurity = (environment: Environment): Environment =>
  Object.fromEntries(
    Object.entries(environment).filter(([name]) =>
      /^TEMPORAL_(TLS|API_KEY|CONFIG|PROFILE|NAMESPACE)/.test(name),
    ),
  )

/** Empties them for a server of one's own, which speaks no TLS and takes no key: a caller's shell has them for another. */
export const withoutSecurity = (environment: Environment): Environment =>
  Object.fromEntries(Object.keys(pickSecurity(environment)).map((name) => [name, '']))

const isProfileNamed = (given: Environment): boolean =>
  Boolean(given['TEMPORAL_CONFIG_FILE'] ?? given['TEMPORAL_PROFILE'])

/** Reads address and namespace of the profile that is named, for whatever the variables leave open. */
export const readProfile = (
  given: Environment,
): { values: Environment; issues: SettingIssue[] } => {
  if (!isProfileNamed(given)) return { values: {}, issues: [] }
  try {
    const file = given['TEMPORAL_CONFIG_FILE']
    // A file that does not exist counts as empty for the SDK.
    if (file) readFileSync(file)
    const { address, namespace } = readTemporal(given)
    return { values: { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace }, issues: [] }
  } catch (error) {
    const name = given['TEMPORAL_CONFIG_FILE'] ? 'TEMPORAL_CONFIG_FILE' : 'TEMPORAL_PROFILE'
    return {
      values: {},
      issues: [{ name, message: `${name} is not usable: ${messageOf(error)}` }],
    }
  }
}

const PREFIX = 'TEMPORAL_TLS_'
const FILES = ['SERVER_CA_CERT', 'CLIENT_CERT', 'CLIENT_KEY'] as const

/** Finds what the SDK would take without a word: half a pair, a key of another certificate, what it does not know. */
export const findTemporalIssues = (given: Environment): SettingIssue[] => {
  const issues: SettingIssue[] = []
  const add = (name: string, rule: string): void =>
    void issues.push({ name, message: `${name} ${rule}` })
  if (given[`${PREFIX}DISABLE_HOST_VERIFICATION`])
    add(
      `${PREFIX}DISABLE_HOST_VERIFICATION`,
      `must not be set: give ${PREFIX}SERVER_CA_CERT_PATH, and ${PREFIX}SERVER_NAME where the certificate has another name`,
    )
  const secured = Object.keys(given).filter(
    (name) => (name.startsWith(PREFIX) || name === 'TEMPORAL_API_KEY') && given[name],
  )
  if (/^(false|0)$/i.test(given['TEMPORAL_TLS'] ?? '') && secured.length > 0)
    add('TEMPORAL_TLS', `must not be false beside ${secured.join(', ')}`)
  const pem = (kind: (typeof FILES)[number]): string | undefined => {
    const [path, data] = [`${PREFIX}${kind}_PATH`, `${PREFIX}${kind}_DATA`]
    if (given[path] && given[data]) add(data, `must not be set beside ${path}`)
    const [file, text = ''] = [given[path], given[data]]
    if (!file && !text) return undefined
    try {
      const what = kind === 'CLIENT_KEY' ? 'private key' : 'certificate'
      return readPem(what, () => (file ? readFileSync(file, 'utf8') : text))
    } catch (error) {
      add(file ? path : data, messageOf(error))
      return undefined
    }
  }
  const [, cert, key] = FILES.map(pem)
  const isGiven = (kind: string): boolean =>
    Boolean(given[`${PREFIX}${kind}_PATH`] ?? given[`${PREFIX}${kind}_DATA`])
  if (isGiven('CLIENT_CERT') !== isGiven('CLIENT_KEY')) {
    const absent = isGiven('CLIENT_CERT') ? 'CLIENT_KEY' : 'CLIENT_CERT'
    add(`${PREFIX}${absent}_PATH`, 'is absent: a client certificate and its key go together')
  }
  if (cert && key && !isPair(cert, key))
    add(`${PREFIX}CLIENT_KEY_PATH`, 'is not the key of the client certificate')
  return issues
}

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error)
