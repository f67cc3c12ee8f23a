import { randomBytes } from 'node:crypto'

import { readConfig } from '../../src/config.ts'
import { Env } from '../../src/compose/settings/env.ts'
import { makeList, makePage, wrap } from './markdown.ts'

type Name = keyof Env

/** The settings as a reader looks for them. Every setting of the schema is in one group. */
const GROUPS: Record<string, Name[]> = {
  'Servers it uses': [
    'DATABASE_URL',
    'DATABASE_DIRECT_URL',
    'DATABASE_POOL',
    'TEMPORAL_ADDRESS',
    'TEMPORAL_NAMESPACE',
    'TEMPORAL_DATABASE_URL',
    'TASK_QUEUE',
  ],
  'TLS, keys and profiles of Temporal': [
    'TEMPORAL_TLS',
    'TEMPORAL_API_KEY',
    'TEMPORAL_TLS_SERVER_CA_CERT_PATH',
    'TEMPORAL_TLS_CLIENT_CERT_PATH',
    'TEMPORAL_TLS_CLIENT_KEY_PATH',
    'TEMPORAL_CONFIG_FILE',
  ],
  Api: [
    'PUBLIC_URL',
    'HOST',
    'PORT',
    'CORS_ORIGINS',
    'TRUST_PROXY',
    'RATE_LIMITS',
    'DRAIN_DELAY_SECONDS',
    'WIRE_ALIASES',
  ],
  'Keys and the issuer of bearer tokens': [
    'SIGNING_KEYS',
    'SECRETS_KEYS',
    'WEBHOOK_DEFAULT_SECRET',
    'AUTH',
    'AUTH_ISSUER',
    'AUTH_AUDIENCE',
    'AUTH_JWKS_URL',
    'ADMIN_SUBJECTS',
    'ADMIN_CLAIM',
    'KEY_MAX_DAYS',
  ],
  Console: [
    'CONSOLE',
    'CONSOLE_SAMPLES',
    'CONSOLE_CLIENT_ID',
    'CONSOLE_SCOPES',
    'CONSOLE_AUTH_PARAMS',
    'CONSOLE_AUTH_ORIGINS',
    'CONSOLE_INSTALL',
    'TEMPORAL_UI_URL',
  ],
  Files: [
    'STORAGE',
    'STORAGE_ALSO',
    'STORAGE_PATH',
    'S3_ENDPOINT',
    'S3_PUBLIC_ENDPOINT',
    'S3_REGION',
    'S3_BUCKET',
    'S3_PREFIX',
    'S3_PATH_STYLE',
    'S3_ACCESS_KEY_ID',
    'S3_SECRET_ACCESS_KEY',
    'S3_REDIRECT',
    'SCRATCH_PATH',
    'RESULT_RETENTION_DAYS',
  ],
  Tasks: [
    'OWNER_TASK_LIMIT',
    'OWNER_BYTE_LIMIT',
    'IMAGE_DEADLINE_SECONDS',
    'VIDEO_AUTH',
    'VIDEO_EXTEND_SOURCE',
    'VIDEO_CONCURRENCY_PER_OWNER',
    'OWNER_CREDIT_LIMIT',
    'VIDEO_DEADLINE_SECONDS',
    'FFMPEG_PATH',
  ],
  Upstreams: [
    'IMAGE_ENGINE',
    'VENDOR_IMAGE_URL',
    'VENDOR_IMAGE_KEY',
    'VIDEO_ENGINE',
    'VENDOR_VIDEO_URL',
    'VENDOR_VIDEO_KEY',
    'ENGINES',
    'COMFYUI_URLS',
    'COMFYUI_TOKEN',
    'COMFYUI_TEMPLATES',
    'COMFYUI_DEPTH',
    'COMFYUI_STALL_SECONDS',
    'ENGINES_HTTP',
    'ENGINES_HTTP_TOKENS',
  ],
  'The registry, and addresses that callers name': [
    'PUBLISH_AUTH',
    'REGISTRY_READS',
    'REVIEW_MIN_AGE_HOURS',
    'EXTRACTION_TOKEN',
    'STARS',
    'GITHUB_TOKEN',
    'OUTBOUND_PORTS',
    'OUTBOUND_DENY',
    'OUTBOUND_PROXY',
    'OUTBOUND_NO_PROXY',
    'OUTBOUND_PROXY_RESOLVES',
  ],
  'Workers and every process': [
    'WORKER_ROLE',
    'WORKER_VERSIONING',
    'MEDIA_SLOTS',
    'RENDER_HEARTBEATS',
    'NODE_ENV',
    'LOG_LEVEL',
    'LOG_CHANGES',
    'METRICS_PORT',
    'METRICS_HOST',
    'OTEL_EXPORTER_OTLP_ENDPOINT',
  ],
}

/** Settings that must be given, with a value that shows their form. */
export const SAMPLES: Partial<Record<Name, string>> = {
  DATABASE_URL: 'postgres://kiln:password@127.0.0.1:5432/kiln',
  TEMPORAL_ADDRESS: '127.0.0.1:7233',
  PUBLIC_URL: 'https://kiln.example.com',
  AUTH_ISSUER: 'https://issuer.example.com/',
  AUTH_AUDIENCE: 'kiln',
  AUTH_JWKS_URL: 'https://issuer.example.com/.well-known/jwks.json',
  TRUST_PROXY: 'none',
  SIGNING_KEYS: randomBytes(32).toString('base64'),
  SECRETS_KEYS: randomBytes(32).toString('base64'),
  WEBHOOK_DEFAULT_SECRET: `whsec_${randomBytes(32).toString('base64')}`,
}

/** The page of all settings. */
export const makeSettingsPage = (): string =>
  makePage('Settings', 'the schema in `src/compose/settings/env.ts`', [
    wrap(INTRO),
    ...makeSettingsParts(),
  ])

const INTRO = `\`npm start\`, \`npm run demo\` and \`npm test\` set everything themselves. In production all settings come from the
environment, and \`.env.example\` lists them to be filled in. A process that finds wrong settings names every error at once and
ends. With \`NODE_ENV=production\` it rejects settings that only development may have. In brackets is the default. What is not
here is a constant with its reason in \`src/compose/settings/constants.ts\`.`

const makeSettingsParts = (): string[] =>
  listGroups().flatMap(([title, names]) => [
    `## ${title}`,
    makeList(names.map((name) => `\`${name}\`${showDefault(name)}: ${describe(name)}`)),
  ])

/** `.env.example`: what production must set is empty or shows its form, what has a default is commented out. */
export const makeEnvExample = (): string =>
  [
    HEAD,
    ...listGroups().map(([title, names]) =>
      [`# --- ${title} ---`, ...names.map(makeEntry)].join('\n\n'),
    ),
  ].join('\n\n') + '\n'

/** True when an api refuses to start without the setting; the reader of settings itself decides. */
export const isRequired = (name: Name, NODE_ENV = 'production'): boolean => {
  const { [name]: _absent, ...others } = { NODE_ENV, ...SAMPLES }
  try {
    readConfig(others)
    return false
  } catch {
    return true
  }
}

const HEAD = `# Settings of Kiln. Made from the schema in src/compose/settings/env.ts by \`npm run docs\`; a test fails when it is stale.
#
# \`npm start\`, \`npm run demo\` and \`npm test\` need none of them. For anything else copy this file to .env, fill in what has
# no value and remove the # before what is to differ from its default. Docker Compose reads .env by itself; a process
# started by hand reads it with \`NODE_ENV=production node --env-file=.env dist/src/api.js\`.

# --- docker-compose.yml alone ---

# Passwords of PostgreSQL's superuser and of its two users, made once with the first start. They become part of a URL, so
# only letters and digits: the output of \`openssl rand -hex 24\`.
POSTGRES_PASSWORD=
KILN_DATABASE_PASSWORD=
TEMPORAL_DATABASE_PASSWORD=

# Port of this machine that shows the Temporal UI.
# TEMPORAL_UI_PORT=8233

# Starts an S3 server, too: with STORAGE=s3, S3_ENDPOINT=http://s3:7070, S3_PATH_STYLE=true, a bucket and a key of your choice.
# COMPOSE_PROFILES=s3

# docker-compose.yml sets DATABASE_URL, TEMPORAL_ADDRESS, TEMPORAL_DATABASE_URL, HOST, METRICS_PORT, METRICS_HOST,
# STORAGE_PATH, SCRATCH_PATH, WORKER_ROLE and NODE_ENV itself; PORT is the port of this machine that leads to the api.`

const makeEntry = (name: Name): string => {
  const lines = describe(name)
    .match(/.{1,98}(?:\s|$)/g)
    ?.map((line) => `# ${line.trimEnd()}`)
  const given = `${name}=${UNSHOWN.test(name) ? '' : (SAMPLES[name] ?? '')}`
  const value = isRequired(name) ? given : `# ${name}=${SETTINGS[name].default ?? ''}`
  return [...(lines ?? []), value].join('\n')
}

/** Nobody is to run with the keys of an example, or with its word on the proxies. */
const UNSHOWN = /_KEYS$|SECRET|TRUST_PROXY/

const listGroups = (): [string, Name[]][] => {
  const grouped = Object.values(GROUPS).flat()
  const lost = Object.keys(SETTINGS).filter((name) => !grouped.includes(name as Name))
  if (lost.length > 0)
    throw new Error(`${lost.join(', ')} is in no group: add it to GROUPS in tools/docs/settings.ts`)
  return Object.entries(GROUPS)
}

/** The members of a setting's schema that the page shows. */
interface Setting {
  description: string
  default?: string | number | boolean
  enum?: string[]
}

const SETTINGS = Env.properties as unknown as Record<Name, Setting>

const describe = (name: Name): string => {
  const { description, enum: values } = SETTINGS[name]
  return values === undefined ? description : `${description} One of ${values.join(', ')}.`
}

const showDefault = (name: Name): string => {
  if (isRequired(name, 'development')) return ' (**required**)'
  if (isRequired(name)) return ' (**required** in production)'
  const { default: value = '' } = SETTINGS[name]
  return value === '' ? '' : ` (\`${value}\`)`
}
