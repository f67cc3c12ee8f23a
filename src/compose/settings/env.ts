import { Type, type Static } from 'typebox'

import { ENGINE_NAMES } from '../../tasks/domain/engine.ts'
import type { Constants } from './constants.ts'

const text = (description: string, value?: string) =>
  Type.String({ minLength: 1, description, ...(value === undefined ? {} : { default: value }) })

/** A text that is empty unless it is given. */
const optionalText = (description: string) => Type.String({ default: '', description })

const choice = <Value extends string>(values: Value[], value: Value, description: string) =>
  Type.Enum(values, { default: value, description })

const count = (description: string, value: number, minimum = 0, maximum = 2_147_483_647) =>
  Type.Integer({ minimum, maximum, default: value, description })

const bytes = (description: string, value: number) =>
  count(description, value, 1, Number.MAX_SAFE_INTEGER)

const flag = (description: string) => Type.Boolean({ default: false, description })

const list = (description: string, value = '') =>
  Type.String({ default: value, description: `${description} Separated by commas.` })

const engine = (what: string) =>
  choice(
    [...ENGINE_NAMES],
    'local',
    `Who renders ${what} that are made from now on; read by the api.`,
  )

const upstreamUrl = (what: string) =>
  optionalText(`Address of the upstream of ${what}; core workers call it.`)

const visible = (description: string) =>
  Type.String({
    default: '',
    pattern: '^[\\x21-\\x7e]*$',
    description,
    'x-expectation': 'visible ASCII characters',
  })

const upstreamKey = (url: string) => visible(`Bearer token, or API key, at ${url}.`)

/** Every setting of every process. The page of settings, `.env.example` and the test of docker-compose.yml are made from it. */
export const Env = Type.Object({
  NODE_ENV: choice(
    ['development', 'production', 'test'],
    'development',
    '`production` rejects settings that only development may have.',
  ),
  DATABASE_URL: text('PostgreSQL 16 or later, as postgres://user:password@host:port/database.'),
  DATABASE_DIRECT_URL: Type.Optional(
    text(
      'The same database past a pooler that lends connections for a transaction, where there is one.',
    ),
  ),
  DATABASE_POOL: count('Connections of one process to PostgreSQL.', 10, 1, 500),
  TEMPORAL_ADDRESS: text('Temporal frontend, host:port.'),
  TEMPORAL_NAMESPACE: text('Temporal namespace.', 'default'),
  TEMPORAL_TLS: Type.Optional(
    Type.Boolean({
      description:
        'Whether Temporal is called by TLS. An API key or any of the TEMPORAL_TLS_ settings means true.',
    }),
  ),
  TEMPORAL_API_KEY: visible('API key at Temporal.'),
  TEMPORAL_TLS_SERVER_CA_CERT_PATH: optionalText(
    "PEM file of the authority that signs Temporal's certificate; without it those that Node knows.",
  ),
  TEMPORAL_TLS_SERVER_CA_CERT_DATA: optionalText('Its text, in place of a file.'),
  TEMPORAL_TLS_CLIENT_CERT_PATH: optionalText(
    'PEM file of the certificate that is shown to Temporal. Files are read again when they change.',
  ),
  TEMPORAL_TLS_CLIENT_CERT_DATA: optionalText('Its text, in place of a file.'),
  TEMPORAL_TLS_CLIENT_KEY_PATH: optionalText('PEM file of its private key.'),
  TEMPORAL_TLS_CLIENT_KEY_DATA: optionalText('Its text, in place of a file.'),
  TEMPORAL_TLS_SERVER_NAME: optionalText(
    "Name in Temporal's certificate where it is not that in TEMPORAL_ADDRESS.",
  ),
  TEMPORAL_CONFIG_FILE: optionalText(
    "TOML file with profiles of Temporal's SDKs and command line; variables count before it.",
  ),
  TEMPORAL_PROFILE: optionalText(
    'Profile in that file, or in the one of this user where TEMPORAL_CONFIG_FILE is not set.',
  ),
  TASK_QUEUE: text(
    'Task queue of workflows and light activities; rendering adds `-media`.',
    'kiln',
  ),
  PUBLIC_URL: text('Address callers reach the api at; every link is built from it.'),
  HOST: text('Address the api listens on.', '127.0.0.1'),
  PORT: count('Port the api listens on; 0 takes a free one.', 8080, 0, 65_535),
  AUTH: choice(
    ['issuer', 'builtin'],
    'issuer',
    'Who signs users in: the issuer of AUTH_ISSUER, or the api itself, which then sets AUTH_ISSUER and AUTH_JWKS_URL.',
  ),
  AUTH_ISSUER: {
    ...text('Expected `iss` of bearer tokens.'),
    'x-expectation': 'an issuer, or AUTH be builtin',
  },
  AUTH_AUDIENCE: text('Expected `aud` of bearer tokens.'),
  AUTH_JWKS_URL: text('Key set of the issuer.'),
  DEVELOPMENT_ISSUER_KEY: optionalText(
    'Private JWK of the embedded stack that `POST /development/tokens` signs with, and the switch of that route.',
  ),
  CONSOLE: choice(
    ['on', 'off'],
    'on',
    'Whether the api serves the web console under `/console/`, and leads there from `/`.',
  ),
  CONSOLE_CLIENT_ID: optionalText(
    'Client id of the console at the issuer. Without it nobody can sign in there.',
  ),
  CONSOLE_SCOPES: text('Scopes that the console asks the issuer for.', 'openid profile email'),
  CONSOLE_AUTH_PARAMS: optionalText(
    'Further parameters of that request, such as `audience=kiln&resource=x`.',
  ),
  CONSOLE_AUTH_ORIGINS: list(
    'Origins of the issuer that the console calls; without it the origin of AUTH_ISSUER.',
  ),
  CONSOLE_INSTALL: optionalText(
    'Command that the console shows to install a node, with `{node}`, `{version}` and `{url}`.',
  ),
  TEMPORAL_UI_URL: optionalText(
    'Address of the Temporal UI, which the console links platform admins to.',
  ),
  OWNER_TASK_LIMIT: count(
    'Open tasks of an owner. An address without a credential has a tenth.',
    10_000,
    1,
  ),
  OWNER_BYTE_LIMIT: bytes(
    'Bytes of files and payloads kept for an owner. An address without a credential has a tenth.',
    100 * 2 ** 30,
  ),
  STORAGE: choice(
    ['local', 's3'],
    'local',
    'Where files are kept: in a folder that all processes share, or in a bucket.',
  ),
  STORAGE_ALSO: choice(
    ['none', 'local', 's3'],
    'none',
    'A second store that files are read from while they move.',
  ),
  STORAGE_PATH: text('Folder of the local store.', '.data/storage'),
  S3_ENDPOINT: optionalText('Address of the S3 server; without it that of AWS in S3_REGION.'),
  S3_REGION: text('Region of the bucket; most servers other than AWS take any.', 'us-east-1'),
  S3_BUCKET: optionalText('The bucket, which exists already.'),
  S3_PREFIX: Type.String({
    default: '',
    maxLength: 512,
    pattern: '^([A-Za-z0-9_+-][A-Za-z0-9._+-]*(/[A-Za-z0-9_+-][A-Za-z0-9._+-]*)*)?$',
    description: 'Folder of the bucket in which all files are, such as `kiln/files`.',
    'x-expectation': 'a path without a slash at its ends',
  }),
  S3_PATH_STYLE: flag(
    'Puts the bucket into the path of requests; most servers other than AWS need it.',
  ),
  S3_ACCESS_KEY_ID: optionalText('Key of the bucket; without it the SDK of AWS looks for one.'),
  S3_SECRET_ACCESS_KEY: optionalText('Its secret.'),
  S3_REDIRECT: choice(
    ['on', 'off'],
    'off',
    'Leads links of pictures and videos on to the bucket. Callers must reach S3_ENDPOINT.',
  ),
  SCRATCH_PATH: optionalText(
    'Folder of this machine for unfinished files beside a bucket; else one in the temporary folder.',
  ),
  ADMIN_SUBJECTS: list('Subjects of the tokens of platform admins, who moderate the registry.'),
  ADMIN_CLAIM: optionalText(
    'A claim, `name=value`, of the tokens of platform admins; one item of a list is enough, and dots lead into objects, as in `realm_access.roles=admin`.',
  ),
  METRICS_PORT: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 65_535,
      description:
        'Port of `GET /metrics` and `GET /health` of each process; 0 takes a free one, absent there is none.',
    }),
  ),
  METRICS_HOST: text(
    'Address that this port listens on; whoever reaches it needs no credential.',
    '127.0.0.1',
  ),
  OTEL_EXPORTER_OTLP_ENDPOINT: optionalText(
    'Collector of OpenTelemetry (OTLP over HTTP) for traces. Other OTEL_ settings of its SDK hold.',
  ),
  CORS_ORIGINS: list('Origins whose pages may call every route; public reads are for all.'),
  RATE_LIMITS: Type.String({
    pattern: '^(on|off|\\d{1,6}(\\.\\d{1,6})?)$',
    default: 'on',
    description: 'Quotas of requests: `on`, `off`, or a factor for all of them.',
    'x-expectation': 'on, off or a factor',
  }),
  TRUST_PROXY: list(
    'Addresses and networks (CIDR) of the proxies whose X-Forwarded-For names the client, or `none`.',
  ),
  SIGNING_KEYS: list('Keys of signed links, 32 bytes of Base64 each; the first signs, all verify.'),
  SECRETS_KEYS: list(
    'Keys that encrypt secrets at rest, 32 bytes of Base64 each; the first encrypts, all are tried.',
  ),
  WEBHOOK_DEFAULT_SECRET: optionalText(
    'Signs the notifications of anonymous callers: `whsec_` and the Base64 of 24 to 64 bytes.',
  ),
  LOG_LEVEL: choice(
    ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
    'info',
    'Least level that is logged.',
  ),
  WORKER_ROLE: choice(['core', 'media'], 'core', 'What a worker does: workflows, or rendering.'),
  RENDER_HEARTBEATS: choice(
    ['frequent', 'sparse'],
    'frequent',
    'How often a render shows that it lives: each second, and it is lost after 5; or each 10 seconds, and it is lost after 30, for Temporal Cloud, which bills each.',
  ),
  MEDIA_SLOTS: count('Renderings at once in a media worker; one a core.', 2, 1, 256),
  IMAGE_MAX_BYTES: count('Largest image in bytes, decoded.', 50_000_000, 1),
  IMAGE_DEADLINE_SECONDS: count('Time from IN_PROGRESS until a task fails.', 1800, 1, 86_400),
  IMAGE_ENGINE: engine('image tasks'),
  VENDOR_IMAGE_URL: upstreamUrl('image tasks'),
  VENDOR_IMAGE_KEY: upstreamKey('VENDOR_IMAGE_URL'),
  VIDEO_ENGINE: engine('video tasks'),
  VENDOR_VIDEO_URL: upstreamUrl('video tasks'),
  VENDOR_VIDEO_KEY: upstreamKey('VENDOR_VIDEO_URL'),
  ENGINES: list(
    'Engines of single kinds in place of these two, such as `upscale:comfyui,text2video:comfyui`.',
  ),
  COMFYUI_URLS: list(
    'Instances of ComfyUI that core workers call, such as `gpu1=http://10.0.0.5:8188`; their tasks keep the name.',
  ),
  COMFYUI_TOKEN: visible('Bearer token for a proxy before the instances of COMFYUI_URLS.'),
  COMFYUI_TEMPLATES: optionalText('Folder of the workflows that instances of ComfyUI run.'),
  COMFYUI_DEPTH: count(
    'Prompts on one instance at once: one runs, the others are ready.',
    2,
    1,
    100,
  ),
  COMFYUI_LOST_SECONDS: count(
    'Silence of an instance after which its tasks go elsewhere; a restart takes 20 to 50.',
    90,
    1,
    86_400,
  ),
  COMFYUI_STALL_SECONDS: count(
    'Time without progress after which a prompt is interrupted, and an instance that goes on is left.',
    600,
    1,
    86_400,
  ),
  BREAKER_FAILURES: count(
    'Failures of an upstream, or of the instances of ComfyUI, in a row after which its tasks wait until it works again; 0: they never do.',
    5,
    0,
    10_000,
  ),
  VENDOR_RATE: count('Requests a second of one core worker to each upstream.', 20, 1, 10_000),
  RESULT_RETENTION_DAYS: count('Days that files stay after the end of their task.', 30, 1, 36_500),
  ARCHIVE_MAX_BYTES: count('Largest archive of a version in bytes.', 268_435_456, 1),
  REVIEW_MIN_AGE_HOURS: count(
    'Age of an account from which on its reviews of nodes count and are shown.',
    0,
    0,
    87_600,
  ),
  VIDEO_AUTH: choice(
    ['optional', 'required'],
    'optional',
    'Whether video routes need a credential.',
  ),
  VIDEO_EXTEND_SOURCE: choice(
    ['both', 'any'],
    'both',
    'Whether an extension needs `video_creation_id` and `video_url`, or any of them.',
  ),
  WIRE_ALIASES: optionalText(
    'JSON file of other names for paths, query, members and enum values, which clients may use beside those of the interface.',
  ),
  VIDEO_CONCURRENCY_PER_OWNER: count(
    'Video tasks of an owner that render at once. All callers without a credential have four times as many.',
    5,
    1,
    10_000,
  ),
  OWNER_CREDIT_LIMIT: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 1_000_000_000,
      description:
        'Most credits of an owner or of an address without a credential, charges minus refunds.',
    }),
  ),
  VIDEO_DEADLINE_SECONDS: count('Time from processing until a task fails.', 1200, 1, 86_400),
  PUBLISH_AUTH: Type.Enum(['bearer+token', 'token'], {
    default: 'bearer+token',
    description: 'What publishing needs: with or without a bearer token or API key of a member.',
  }),
  EXTRACTION_TOKEN: Type.Optional(
    Type.String({
      minLength: 16,
      maxLength: 1024,
      pattern: '^[\\x21-\\x7e]+$',
      description:
        'Bearer token of those who report host nodes beside members of the publisher. Without it strangers may report, too, which is a hint.',
      'x-expectation': '16 to 1024 visible ASCII characters',
    }),
  ),
  STARS: Type.Enum(['on', 'off'], {
    default: 'on',
    description:
      'Whether github.com, gitlab.com and codeberg.org are asked for the stars of the repositories of nodes, each once a day.',
  }),
  GITHUB_TOKEN: optionalText(
    'A token of github.com without any permission: with it 5,000 repositories an hour can be asked for their stars, without it 60.',
  ),
  FFMPEG_PATH: Type.Optional(
    text(
      'The ffmpeg to use, with an ffprobe beside it; without it those on PATH, else the packaged ones.',
    ),
  ),
  OUTBOUND_ALLOW_LOOPBACK: flag(
    'Lets the URLs of callers reach this machine; never in production.',
  ),
  OUTBOUND_PORTS: list('Ports beside 443 and 8443 that URLs may name.'),
  OUTBOUND_DENY: list('Further networks (CIDR) that are never called.'),
  DRAIN_DELAY_SECONDS: count('Wait between unready and closing at the end of the api.', 2, 0, 300),
})
export type Env = Static<typeof Env>

/** Settings whose value is a list of texts. */
export const TEXT_LISTS = [
  'ADMIN_SUBJECTS',
  'CONSOLE_AUTH_ORIGINS',
  'CORS_ORIGINS',
  'TRUST_PROXY',
  'SIGNING_KEYS',
  'SECRETS_KEYS',
  'OUTBOUND_DENY',
  'ENGINES',
  'COMFYUI_URLS',
] as const

type Lists = Record<(typeof TEXT_LISTS)[number] | 'DEVELOPMENT_USERS', string[]> &
  Record<'OUTBOUND_PORTS', number[]>

/** The settings and constants of a process, with lists split and durations in the units their names say. */
export type Config = Omit<Env & Constants, keyof Lists> & Lists

/** The items of a list in a setting. */
export const splitList = (value: string): string[] =>
  value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
