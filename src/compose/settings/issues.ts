import { isIP } from 'node:net'

import ipaddr from 'ipaddr.js'

import { makeIsAllowedAddress } from '../../platform/outbound/address.ts'
import { makeProxy } from '../../platform/outbound/proxy.ts'
import { isLoopbackHost } from '../../platform/outbound/url.ts'
import { ENGINE_NAMES } from '../../tasks/domain/engine.ts'
import {
  isEngineName,
  listEngineIssues,
  readEngineToken,
} from '../../engines/domain/cog/engine-item.ts'
import { readFleetItem } from '../../engines/domain/fleet-item.ts'
import { readUpstreamItem } from '../../engines/domain/upstream-item.ts'
import { readUpstreams, UPSTREAM_FAMILIES, type UpstreamFamily } from '../../engines/settings.ts'
import { TEMPLATE_KINDS } from '../../engines/domain/template/fields.ts'
import { decodeWebhookSecret } from '../../events/adapters/webhook.ts'
import { BUILTIN_SETTINGS } from './builtin.ts'
import { OVERRIDE } from './constants.ts'
import { DEVELOPMENT_ISSUER } from '../../platform/process/development-issuer.ts'
import { readDatabaseAddress } from '../../platform/settings/database.ts'
import { folderIssue } from '../../platform/settings/folder.ts'
import { splitList } from '../../platform/settings/schema.ts'
import type { Env } from './env.ts'
import { findAbsent, listEngineNeeds, listNeeds } from './needs.ts'
import { isGuessable } from './guessable.ts'
import type { SettingIssue } from '../../platform/settings/issue.ts'
import { findTemporalIssues } from '../../platform/settings/temporal.ts'

/** The value of TRUST_PROXY that says: callers reach the api without a proxy. */
export const NO_PROXY = 'none'

/** Process that reads settings: some rules hold for one process only. */
export type ProcessName = 'api' | 'worker' | 'migrate' | 'operate'

/** Finds what is wrong with settings that their schema lets pass. */
export const findSettingIssues = (
  env: Env,
  process: ProcessName,
  given: NodeJS.ProcessEnv,
): SettingIssue[] => {
  const rules = Object.entries(RULES) as [RuledName, Rule][]
  const issues = rules
    .filter(([name]) => !isNeedless(env, process, name))
    .flatMap(([name, rule]) =>
      rule(env[name] ?? '', name).map((message): SettingIssue => ({ name, message })),
    )
  const further = [
    ...builtinIssues(env, given),
    ...developmentIssues(env, given),
    ...engineIssues(env, process),
    ...findAbsent(env, listNeeds(env)),
    ...storeIssues(env),
    ...findTemporalIssues(given),
    ...productionIssues(env, process, given),
  ].filter(({ name }) => !issues.some((issue) => issue.name === name))
  return [...issues, ...further]
}

/** Hostile files are read beside a media worker, so it is not given the keys that only others use. */
const isNeedless = (env: Env, process: ProcessName, name: RuledName): boolean =>
  process === 'worker' &&
  env.WORKER_ROLE === 'media' &&
  env[name] === '' &&
  KEY_SETTINGS.some((key) => key === name)

/** Says what is wrong with the value of a setting. */
type Rule = (value: string, name: string) => string[]

const validateKeys: Rule = (value, name) => {
  const keys = splitList(value)
  if (keys.length === 0)
    return [`${name} is absent: give it the output of \`openssl rand -base64 32\``]
  return keys.some((key) => Buffer.from(key, 'base64').length !== 32)
    ? [`${name} must hold keys of 32 bytes in Base64`]
    : []
}

const validateWebhookSecret: Rule = (value, name) => {
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
const validateDatabase: Rule = (value, name) => {
  if (value === '') return []
  if (!/^postgres(ql)?:\/\//.test(value) || !URL.canParse(value.replace(/,[^@/?]*(?=[/?]|$)/, '')))
    return [`${name} must be postgres://user:password@host:port/database`]
  try {
    readDatabaseAddress(value)
    return []
  } catch (error) {
    return [`${name}: ${error instanceof Error ? error.message : String(error)}`]
  }
}

const validateAddress: Rule = (value, name) => {
  const [, port] = /^(?:\[[\da-f:.]+\]|[^\s:/]+):(\d{1,5})$/i.exec(value) ?? []
  return Number(port) > 0 && Number(port) <= 65_535
    ? []
    : [`${name} must be host:port, such as localhost:7233, got ${value}`]
}

const validatePorts: Rule = (value, name) =>
  splitList(value)
    .filter((port) => !/^\d{1,5}$/.test(port) || Number(port) < 1 || Number(port) > 65_535)
    .map((port) => `${name} must be ports from 1 to 65535, got ${port}`)

const validateRanges: Rule = (value) =>
  issuesOf(() => makeIsAllowedAddress({ allowLoopback: false, deny: splitList(value) }))

const NO_RULES = { url: 'http://proxy', resolves: false, bypass: [] }

const issuesOf = (make: () => unknown): string[] => {
  try {
    make()
    return []
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)]
  }
}

const validateNetworks: Rule = (value, name) =>
  splitList(value === NO_PROXY ? '' : value)
    .filter((text) => !isWhole(text) || !(ipaddr.isValid(text) || ipaddr.isValidCIDR(text)))
    .map(
      (text) =>
        `${name} must be ${NO_PROXY}, or addresses or networks such as 10.0.0.0/8, got ${text}`,
    )

/** ipaddr.js also reads short forms, such as 10/8, which nothing else does. */
const isWhole = (network: string): boolean => isIP(network.replace(/\/.*/, '')) !== 0

const validateFactor: Rule = (value, name) =>
  Number(value) === 0 ? [`${name} must be on, off or a factor above 0, got ${value}`] : []

/** Browsers send an origin without a path, and compare it as a text. */
const validateOrigins: Rule = (value, name) =>
  splitList(value)
    .filter((text) => !URL.canParse(text) || new URL(text).origin !== text)
    .map(
      (text) =>
        `${name} must be origins such as https://registry.example.com, without a path, got ${text}`,
    )

const validateClaim: Rule = (value, name) =>
  value === '' || /^[^=]+=./s.test(value)
    ? []
    : [`${name} must be a claim as name=value, got ${value}`]

const validateUrl: Rule = (value, name) =>
  URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)
    ? []
    : [`${name} must be an http or https URL, got ${JSON.stringify(value)}`]

const validateServer: Rule = (value, name) => {
  if (value === '') return []
  const issues = validateUrl(value, name)
  if (issues.length > 0) return issues
  const { username, password, search, hash } = new URL(value)
  return username + password + search + hash === ''
    ? []
    : [`${name} must have no user, query or fragment`]
}

const validateEngines: Rule = (value, name) =>
  splitList(value)
    .filter((item) => {
      const [kind = '', engine, name, ...more] = item.split(':')
      const isKnown =
        name === undefined
          ? ENGINE_NAMES.some((known) => known === engine)
          : engine === 'http' && isEngineName(name)
      return !isKnown || more.length > 0 || !TEMPLATE_KINDS.includes(kind)
    })
    .map(
      (item) =>
        `${name} must be kinds with engines such as upscale:comfyui, got ${item}: kinds are ${TEMPLATE_KINDS.join(', ')}, engines ${ENGINE_NAMES.join(', ')}, or http: with a name of ENGINES_HTTP`,
    )

const validateInstances: Rule = (value, name) => {
  const read = splitList(value).map(readFleetItem)
  const names = read.flatMap(({ item }) => (item?.kind === 'instance' ? [item.name] : []))
  return [
    ...read.flatMap(({ issue }) => (issue === undefined ? [] : [`${name} ${issue}`])),
    ...names
      .filter((one, index) => names.indexOf(one) !== index)
      .map((one) => `${name} names two instances ${one}`),
  ]
}

/** Each kind has one upstream, and all that have none of their own share one. */
const validateUpstreams =
  (family: UpstreamFamily): Rule =>
  (value, name) => {
    const read = splitList(value).map((text) =>
      readUpstreamItem(text, UPSTREAM_FAMILIES[family].kinds),
    )
    const kinds = read.flatMap(({ item }) => (item ? [item.kind ?? 'all kinds'] : []))
    return [
      ...read.flatMap(({ issue }) => (issue === undefined ? [] : [`${name} ${issue}`])),
      ...kinds
        .filter((kind, index) => kinds.indexOf(kind) !== index)
        .map((kind) => `${name} has two upstreams of ${kind}`),
    ]
  }

const validateEnginesHttp: Rule = (value, name) =>
  listEngineIssues(splitList(value)).map((issue) => `${name} ${issue}`)

/** The value holds secrets. */
const validateTokens: Rule = (value, name) =>
  splitList(value).some((item) => readEngineToken(item) === undefined)
    ? [`${name} must be names of ENGINES_HTTP with tokens such as enhance=token`]
    : []

const validateParams: Rule = (value, name) =>
  value === '' || /^[\w.~-]+=[^&=#\s]*(&[\w.~-]+=[^&=#\s]*)*$/.test(value)
    ? []
    : [`${name} must be parameters as name=value&name=value, got ${value}`]

const isPrivateKey = (text: string): boolean => {
  try {
    const { kty, crv, d } = JSON.parse(text) as Record<string, unknown>
    return kty === 'EC' && crv === 'P-256' && typeof d === 'string'
  } catch {
    return false
  }
}

const RULES = {
  DATABASE_URL: validateDatabase,
  DATABASE_DIRECT_URL: validateDatabase,
  TEMPORAL_DATABASE_URL: validateDatabase,
  TEMPORAL_ADDRESS: validateAddress,
  SIGNING_KEYS: validateKeys,
  SECRETS_KEYS: validateKeys,
  WEBHOOK_DEFAULT_SECRET: validateWebhookSecret,
  OUTBOUND_PORTS: validatePorts,
  OUTBOUND_DENY: validateRanges,
  OUTBOUND_PROXY: (value) =>
    value === '' ? [] : issuesOf(() => makeProxy({ ...NO_RULES, url: value })),
  OUTBOUND_NO_PROXY: (value) =>
    issuesOf(() => makeProxy({ ...NO_RULES, bypass: splitList(value) })),
  TRUST_PROXY: validateNetworks,
  RATE_LIMITS: validateFactor,
  CORS_ORIGINS: validateOrigins,
  ADMIN_CLAIM: validateClaim,
  CONSOLE_AUTH_ORIGINS: validateOrigins,
  CONSOLE_AUTH_PARAMS: validateParams,
  TEMPORAL_UI_URL: (value, name) => (value === '' ? [] : validateUrl(value, name)),
  OTEL_EXPORTER_OTLP_ENDPOINT: (value, name) => (value === '' ? [] : validateUrl(value, name)),
  PUBLIC_URL: validateUrl,
  S3_ENDPOINT: validateServer,
  S3_PUBLIC_ENDPOINT: validateServer,
  ENGINES: validateEngines,
  COMFYUI_URLS: validateInstances,
  VENDOR_IMAGE_URL: validateUpstreams('image'),
  VENDOR_VIDEO_URL: validateUpstreams('video'),
  ENGINES_HTTP: validateEnginesHttp,
  ENGINES_HTTP_TOKENS: validateTokens,
  AUTH_JWKS_URL: validateUrl,
} satisfies Partial<Record<keyof Env, Rule>>

type RuledName = keyof typeof RULES

/** Made by whoever runs the service. */
export const OWN_KEYS = [
  'SIGNING_KEYS',
  'SECRETS_KEYS',
  'WEBHOOK_DEFAULT_SECRET',
  'EXTRACTION_TOKEN',
] as const

/** Settings that a media worker does without. */
export const KEY_SETTINGS = [
  ...OWN_KEYS,
  'VENDOR_IMAGE_KEY',
  'VENDOR_VIDEO_KEY',
  'COMFYUI_TOKEN',
  'ENGINES_HTTP_TOKENS',
  'GITHUB_TOKEN',
  'TEMPORAL_DATABASE_URL',
] as const

/** The pages and the console of AUTH=builtin are at the root of their origin, and browsers keep passkeys for TLS alone. */
const builtinIssues = (env: Env, given: NodeJS.ProcessEnv): SettingIssue[] => {
  if (env.AUTH !== 'builtin') return []
  const { pathname, protocol } = URL.canParse(env.PUBLIC_URL) ? new URL(env.PUBLIC_URL) : NO_URL
  return toIssues([
    ...BUILTIN_SETTINGS.map((name): [boolean, string, string] => [
      given[name] !== undefined,
      name,
      'must not be set where AUTH is builtin: the api is the issuer',
    ]),
    [pathname !== '/', 'PUBLIC_URL', 'must have no path where AUTH is builtin'],
    [
      env.NODE_ENV === 'production' && protocol !== 'https:',
      'PUBLIC_URL',
      'must be https where AUTH is builtin, in production',
    ],
  ])
}

const NO_URL = { pathname: '/', protocol: 'https:' }

/**
 * Finds issues of the development issuer. Whoever has its key is every user, so it is for one machine and its own
 * issuer.
 */
const developmentIssues = (env: Env, given: NodeJS.ProcessEnv): SettingIssue[] => {
  const name = `${OVERRIDE}DEVELOPMENT_ISSUER_KEY`
  const key = given[name]
  if (key === undefined || env.NODE_ENV === 'production') return []
  return [
    ...(isPrivateKey(key) ? [] : [`${name} must be the private JWK of an ES256 key`]),
    ...(isLoopbackHost(env.HOST) ? [] : [`${name} must not be set where HOST is not this machine`]),
    ...(env.AUTH_ISSUER === DEVELOPMENT_ISSUER
      ? []
      : [`${name} must not be set where AUTH_ISSUER is not ${DEVELOPMENT_ISSUER}`]),
  ].map((message) => ({ name, message }))
}

/** Only core workers call engines. */
const engineIssues = (env: Env, process: ProcessName): SettingIssue[] => {
  if (process !== 'worker' || env.WORKER_ROLE !== 'core') return []
  const folder = env.COMFYUI_TEMPLATES
  const issue = folder === '' ? undefined : folderIssue('COMFYUI_TEMPLATES', folder)
  const keyless = (['image', 'video'] as const).flatMap((family) => {
    const key = `${UPSTREAM_FAMILIES[family].setting}_KEY` as const
    const others = readUpstreams(env, family).filter((one) => env[key] !== '' && one.key === '')
    return others.map(({ kind }) => ({ name: key, message: `${key} has none for ${kind}` }))
  })
  return [
    ...findAbsent(env, listEngineNeeds(env)),
    ...(issue === undefined ? [] : [{ name: 'COMFYUI_TEMPLATES', message: issue }]),
    ...keyless,
    ...unnamedEngines(env),
  ]
}

/** Finds engines of kinds, and tokens, that have no address. */
const unnamedEngines = (env: Env): SettingIssue[] => {
  const named = splitList(env.ENGINES_HTTP).map((item) => item.split('=')[0])
  const used = [
    ...splitList(env.ENGINES).map((item) => ['ENGINES', item.split(':')[2]] as const),
    ...splitList(env.ENGINES_HTTP === '' ? '' : env.ENGINES_HTTP_TOKENS).map(
      (item) => ['ENGINES_HTTP_TOKENS', item.split('=')[0]] as const,
    ),
  ]
  return used.flatMap(([by, engine]) =>
    engine === undefined || named.includes(engine)
      ? []
      : [
          {
            name: 'ENGINES_HTTP',
            by,
            message: `ENGINES_HTTP has no engine ${engine}, which ${by} names`,
          },
        ],
  )
}

const storeIssues = (env: Env): SettingIssue[] =>
  toIssues([
    [env.STORAGE_ALSO === env.STORAGE, 'STORAGE_ALSO', 'must not be STORAGE itself'],
    [
      env.S3_REDIRECT === 'on' && env.STORAGE !== 's3',
      'S3_REDIRECT',
      'must be off where STORAGE is not s3',
    ],
  ])

const toIssues = (rules: [broken: boolean, name: string, rule: string][]): SettingIssue[] =>
  rules.filter(([broken]) => broken).map(([, name, rule]) => ({ name, message: `${name} ${rule}` }))

const productionIssues = (
  env: Env,
  process: ProcessName,
  given: NodeJS.ProcessEnv,
): SettingIssue[] => {
  if (env.NODE_ENV !== 'production') return []
  const rejected: [boolean, string, string][] = [
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
  return toIssues(rejected.map(([broken, name, rule]) => [broken, name, `${rule} in production`]))
}
