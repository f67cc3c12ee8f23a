import { isIP } from 'node:net'

import ipaddr from 'ipaddr.js'

import { makeAddressJudge } from '../../adapters/outbound/address.ts'
import { isLoopbackHost } from '../../adapters/outbound/url.ts'
import { decodeWebhookSecret } from '../../adapters/webhook.ts'
import { OVERRIDE } from './constants.ts'
import { hasBucket, splitList } from './env.ts'
import type { Env } from './env.ts'
import { isGuessable } from './guessable.ts'

/** `iss` of the tokens that the embedded stack's own issuer signs. */
export const DEVELOPMENT_ISSUER = 'urn:kiln:development'

/** The value of TRUST_PROXY that says: callers reach the api without a proxy. */
export const NO_PROXY = 'none'

/** What reads settings: some rules are those of one process. */
export type ProcessName = 'api' | 'worker' | 'migrate' | 'operate'

export interface SettingFault {
  /** The variable. */
  name: string
  message: string
}

/** What is wrong with settings that their schema lets pass. */
export const findSettingFaults = (
  env: Env,
  process: ProcessName,
  given: NodeJS.ProcessEnv,
): SettingFault[] => {
  const rules = Object.entries(RULES) as [RuledName, Rule][]
  const faults = rules
    .filter(([name]) => !isNeedless(env, process, name))
    .flatMap(([name, rule]) =>
      rule(env[name] ?? '', name).map((message): SettingFault => ({ name, message })),
    )
  const further = [
    ...developmentFaults(env),
    ...vendorFaults(env, process),
    ...storeFaults(env),
    ...productionFaults(env, process, given),
  ].filter(({ name }) => !faults.some((fault) => fault.name === name))
  return [...faults, ...further]
}

/** Hostile files are read beside a media worker, so it is not given the keys that only others use. */
const isNeedless = (env: Env, process: ProcessName, name: RuledName): boolean =>
  process === 'worker' &&
  env.WORKER_ROLE === 'media' &&
  env[name] === '' &&
  KEY_SETTINGS.some((key) => key === name)

/** Says what is wrong with the value of a setting. */
type Rule = (value: string, name: string) => string[]

const judgeKeys: Rule = (value, name) => {
  const keys = splitList(value)
  if (keys.length === 0)
    return [`${name} is absent: give it the output of \`openssl rand -base64 32\``]
  return keys.some((key) => Buffer.from(key, 'base64').length !== 32)
    ? [`${name} must hold keys of 32 bytes in Base64`]
    : []
}

const judgeWebhookSecret: Rule = (value, name) => {
  const remedy = 'make one with `echo "whsec_$(openssl rand -base64 32)"`'
  if (value === '') return [`${name} is absent: ${remedy}`]
  try {
    decodeWebhookSecret(value)
    return []
  } catch {
    return [`${name} must be whsec_ and the Base64 of 24 to 64 bytes: ${remedy}`]
  }
}

/** The driver takes several hosts, `a:5432,b:5432`, which a URL cannot have. The value may hold a password. */
const judgeDatabase: Rule = (value, name) =>
  value === '' ||
  (/^postgres(ql)?:\/\//.test(value) && URL.canParse(value.replace(/,[^@/?]*(?=[/?]|$)/, '')))
    ? []
    : [`${name} must be postgres://user:password@host:port/database`]

const judgeAddress: Rule = (value, name) => {
  const [, port] = /^(?:\[[\da-f:.]+\]|[^\s:/]+):(\d{1,5})$/i.exec(value) ?? []
  return Number(port) > 0 && Number(port) <= 65_535
    ? []
    : [`${name} must be host:port, such as localhost:7233, got ${value}`]
}

const judgePorts: Rule = (value, name) =>
  splitList(value)
    .filter((port) => !/^\d{1,5}$/.test(port) || Number(port) < 1 || Number(port) > 65_535)
    .map((port) => `${name} must be ports from 1 to 65535, got ${port}`)

const judgeRanges: Rule = (value) => {
  try {
    makeAddressJudge({ allowLoopback: false, deny: splitList(value) })
    return []
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)]
  }
}

const judgeNetworks: Rule = (value, name) =>
  splitList(value === NO_PROXY ? '' : value)
    .filter((text) => !isWhole(text) || !(ipaddr.isValid(text) || ipaddr.isValidCIDR(text)))
    .map(
      (text) =>
        `${name} must be ${NO_PROXY}, or addresses or networks such as 10.0.0.0/8, got ${text}`,
    )

/** ipaddr.js also reads short forms, such as 10/8, which nothing else does. */
const isWhole = (network: string): boolean => isIP(network.replace(/\/.*/, '')) !== 0

const judgeFactor: Rule = (value, name) =>
  Number(value) === 0 ? [`${name} must be on, off or a factor above 0, got ${value}`] : []

/** Browsers send an origin without a path, and compare it as a text. */
const judgeOrigins: Rule = (value, name) =>
  splitList(value)
    .filter((text) => !URL.canParse(text) || new URL(text).origin !== text)
    .map(
      (text) =>
        `${name} must be origins such as https://registry.example.com, without a path, got ${text}`,
    )

const judgeClaim: Rule = (value, name) =>
  value === '' || /^[^=]+=./s.test(value)
    ? []
    : [`${name} must be a claim as name=value, got ${value}`]

const judgeUrl: Rule = (value, name) =>
  URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)
    ? []
    : [`${name} must be an http or https URL, got ${JSON.stringify(value)}`]

const judgeServer: Rule = (value, name) => {
  if (value === '') return []
  const faults = judgeUrl(value, name)
  if (faults.length > 0) return faults
  const { username, password, search, hash } = new URL(value)
  return username + password + search + hash === ''
    ? []
    : [`${name} must have no user, query or fragment`]
}

const judgeParams: Rule = (value, name) =>
  value === '' || /^[\w.~-]+=[^&=#\s]*(&[\w.~-]+=[^&=#\s]*)*$/.test(value)
    ? []
    : [`${name} must be parameters as name=value&name=value, got ${value}`]

const judgeIssuerKey: Rule = (value, name) =>
  value === '' || isPrivateKey(value) ? [] : [`${name} must be the private JWK of an ES256 key`]

const isPrivateKey = (text: string): boolean => {
  try {
    const { kty, crv, d } = JSON.parse(text) as Record<string, unknown>
    return kty === 'EC' && crv === 'P-256' && typeof d === 'string'
  } catch {
    return false
  }
}

const RULES = {
  DATABASE_URL: judgeDatabase,
  DATABASE_DIRECT_URL: judgeDatabase,
  TEMPORAL_ADDRESS: judgeAddress,
  SIGNING_KEYS: judgeKeys,
  SECRETS_KEYS: judgeKeys,
  WEBHOOK_DEFAULT_SECRET: judgeWebhookSecret,
  OUTBOUND_PORTS: judgePorts,
  OUTBOUND_DENY: judgeRanges,
  TRUST_PROXY: judgeNetworks,
  RATE_LIMITS: judgeFactor,
  CORS_ORIGINS: judgeOrigins,
  ADMIN_CLAIM: judgeClaim,
  CONSOLE_AUTH_ORIGINS: judgeOrigins,
  CONSOLE_AUTH_PARAMS: judgeParams,
  TEMPORAL_UI_URL: (value, name) => (value === '' ? [] : judgeUrl(value, name)),
  OTEL_EXPORTER_OTLP_ENDPOINT: (value, name) => (value === '' ? [] : judgeUrl(value, name)),
  PUBLIC_URL: judgeUrl,
  S3_ENDPOINT: judgeServer,
  VENDOR_IMAGE_URL: judgeServer,
  VENDOR_VIDEO_URL: judgeServer,
  AUTH_JWKS_URL: judgeUrl,
  DEVELOPMENT_ISSUER_KEY: judgeIssuerKey,
} satisfies Partial<Record<keyof Env, Rule>>

type RuledName = keyof typeof RULES

/** Made by whoever runs the service. */
const OWN_KEYS = [
  'SIGNING_KEYS',
  'SECRETS_KEYS',
  'WEBHOOK_DEFAULT_SECRET',
  'EXTRACTION_TOKEN',
] as const

/** What a media worker does without. */
export const KEY_SETTINGS = [...OWN_KEYS, 'VENDOR_IMAGE_KEY', 'VENDOR_VIDEO_KEY'] as const

/** Who has the key of the development issuer is every user: it is for one machine and its own issuer. */
const developmentFaults = (env: Env): SettingFault[] => {
  if (env.DEVELOPMENT_ISSUER_KEY === '' || env.NODE_ENV === 'production') return []
  const name = 'DEVELOPMENT_ISSUER_KEY'
  return [
    ...(isLoopbackHost(env.HOST) ? [] : [`${name} must not be set where HOST is not this machine`]),
    ...(env.AUTH_ISSUER === DEVELOPMENT_ISSUER
      ? []
      : [`${name} must not be set where AUTH_ISSUER is not ${DEVELOPMENT_ISSUER}`]),
  ].map((message) => ({ name, message }))
}

/** Only core workers call an upstream, and only they are given its key. */
const vendorFaults = (env: Env, process: ProcessName): SettingFault[] => {
  if (process !== 'worker' || env.WORKER_ROLE !== 'core') return []
  return (['IMAGE', 'VIDEO'] as const).flatMap((family) => {
    const [url, key] = [`VENDOR_${family}_URL`, `VENDOR_${family}_KEY`] as const
    const isUsed = env[`${family}_ENGINE`] === 'vendor' || env[url] !== ''
    return [url, key]
      .filter((name) => isUsed && env[name] === '')
      .map((name) => ({ name, message: `${name} is absent: an upstream needs address and key` }))
  })
}

const storeFaults = (env: Env): SettingFault[] => {
  const keys = ['S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY'] as const
  const absent = keys.filter((name) => env[name] === '')
  const wrong: [boolean, keyof Env, string][] = [
    [env.STORAGE_ALSO === env.STORAGE, 'STORAGE_ALSO', 'must not be STORAGE itself'],
    [hasBucket(env) && env.S3_BUCKET === '', 'S3_BUCKET', 'is absent: files are to lie in it'],
    [
      env.S3_REDIRECT === 'on' && env.STORAGE !== 's3',
      'S3_REDIRECT',
      'must be off where STORAGE is not s3',
    ],
    ...(hasBucket(env) && absent.length === 1 ? absent : []).map(
      (name): [boolean, keyof Env, string] => [
        true,
        name,
        'is absent: a key needs its secret, and a secret its key',
      ],
    ),
  ]
  return toFaults(wrong)
}

/** Faults of the rules that are broken. */
const toFaults = (rules: [broken: boolean, name: string, rule: string][]): SettingFault[] =>
  rules.filter(([broken]) => broken).map(([, name, rule]) => ({ name, message: `${name} ${rule}` }))

const productionFaults = (
  env: Env,
  process: ProcessName,
  given: NodeJS.ProcessEnv,
): SettingFault[] => {
  if (env.NODE_ENV !== 'production') return []
  const refused: [boolean, string, string][] = [
    [env.OUTBOUND_ALLOW_LOOPBACK, 'OUTBOUND_ALLOW_LOOPBACK', 'must not be set'],
    [env.FAILPOINT !== undefined, 'FAILPOINT', 'must not be set'],
    [env.VIDEO_TINY, 'VIDEO_TINY', 'must not be set'],
    [env.DEVELOPMENT_ISSUER_KEY !== '', 'DEVELOPMENT_ISSUER_KEY', 'must not be set'],
    ...Object.keys(given)
      .filter((name) => name.startsWith(OVERRIDE))
      .map((name): [boolean, string, string] => [true, name, 'must not be set']),
    [
      // Node's own: it would take any certificate.
      given['NODE_TLS_REJECT_UNAUTHORIZED'] === '0',
      'NODE_TLS_REJECT_UNAUTHORIZED',
      'must not be set to 0',
    ],
    [
      env.AUTH_ISSUER === DEVELOPMENT_ISSUER,
      'AUTH_ISSUER',
      'is the development issuer, which must not be used',
    ],
    [
      process === 'api' && env.TRUST_PROXY === '',
      'TRUST_PROXY',
      `must name the proxies before the api, or be ${NO_PROXY},`,
    ],
    ...OWN_KEYS.map((name): [boolean, string, string] => [
      splitList(env[name] ?? '').some(isGuessable),
      name,
      'holds a key that others know or can guess: make a new one with `openssl rand -base64 32` before it is used',
    ]),
  ]
  return toFaults(refused.map(([broken, name, rule]) => [broken, name, `${rule} in production`]))
}
