import { Type } from 'typebox'
import type { Static } from 'typebox'

const text = (description: string, value?: string) =>
  Type.String({ minLength: 1, description, ...(value === undefined ? {} : { default: value }) })

const count = (description: string, value: number, minimum = 0, maximum = 2_147_483_647) =>
  Type.Integer({ minimum, maximum, default: value, description })

const bytes = (description: string, value: number) =>
  count(description, value, 1, Number.MAX_SAFE_INTEGER)

const flag = (description: string) => Type.Boolean({ default: false, description })

const list = (description: string, value = '') =>
  Type.String({ default: value, description: `${description} Separated by commas.` })

const engine = (what: string) =>
  Type.Enum(['local', 'vendor'], {
    default: 'local',
    description: `Who renders ${what} that are made from now on: this service, or an upstream. Read by the api.`,
  })

const upstreamUrl = (what: string) =>
  Type.String({
    default: '',
    description: `Address of the upstream of ${what}, which speaks this interface; core workers call it.`,
  })

const upstreamKey = (url: string) =>
  Type.String({
    default: '',
    pattern: '^[\\x21-\\x7e]*$',
    description: `Bearer token, or API key, at ${url}.`,
    'x-expectation': 'visible ASCII characters',
  })

const perSecond = (url: string) =>
  count(`Requests a second of one core worker to ${url}.`, 20, 1, 10_000)

const atOnce = (url: string) =>
  count(`Requests of one core worker to ${url} at once, downloads included.`, 10, 1, 1000)

/** Every setting of every process. The page of settings, `.env.example` and the test of docker-compose.yml are made from it. */
export const Env = Type.Object({
  NODE_ENV: Type.Enum(['development', 'production', 'test'], {
    default: 'development',
    description: '`production` refuses the settings that only development may have.',
  }),
  DATABASE_URL: text('PostgreSQL 16 or later, as postgres://user:password@host:port/database.'),
  DATABASE_DIRECT_URL: Type.Optional(
    text(
      'The same database past a pooler that lends connections for a transaction. Apis and core workers listen there, an api holds its lock there, `migrate` works there, and on the way by the pooler nothing prepares statements.',
    ),
  ),
  DATABASE_POOL: count('Connections of one process to PostgreSQL.', 10, 1, 500),
  DATABASE_TIMEOUT_MS: count(
    'Longest statement of a request. All its statements together may take a fifth longer.',
    1500,
    100,
    60_000,
  ),
  TEMPORAL_ADDRESS: text('Temporal frontend, host:port.'),
  TEMPORAL_NAMESPACE: text('Temporal namespace.', 'default'),
  TASK_QUEUE: text(
    'Task queue of workflows and light activities; rendering adds `-media`.',
    'kiln',
  ),
  PUBLIC_URL: text('Address callers reach the api at; every link is built from it.'),
  HOST: text('Address the api listens on.', '127.0.0.1'),
  PORT: count('Port the api listens on; 0 takes a free one.', 8080, 0, 65_535),
  AUTH_ISSUER: text('Expected `iss` of bearer tokens.'),
  AUTH_AUDIENCE: text('Expected `aud` of bearer tokens.'),
  AUTH_JWKS_URL: text('Key set of the issuer.'),
  DEVELOPMENT_ISSUER_KEY: Type.String({
    default: '',
    description:
      'Private JWK that `POST /development/tokens` signs with, and the switch of that route; the embedded stack sets it, production and an address beyond this machine refuse it.',
  }),
  DEVELOPMENT_USERS: list('Users whom that route gives tokens.', 'alice,bob,operator'),
  CONSOLE: Type.Enum(['on', 'off'], {
    default: 'on',
    description:
      'Whether the api serves the web console under `/console/`, and leads there from `/`.',
  }),
  CONSOLE_CLIENT_ID: Type.String({
    default: '',
    description:
      'Client id of the console at the issuer: a public client with the redirect address `<PUBLIC_URL>/console/signed-in`. Without it nobody can sign in to the console.',
  }),
  CONSOLE_SCOPES: text('Scopes that the console asks the issuer for.', 'openid profile email'),
  CONSOLE_AUTH_PARAMS: Type.String({
    default: '',
    description:
      'Further parameters of that request, as `audience=kiln&resource=x`: what the issuer needs to put AUTH_AUDIENCE into `aud`.',
  }),
  CONSOLE_AUTH_ORIGINS: list(
    'Origins of the issuer that the console calls; without it the origin of AUTH_ISSUER.',
  ),
  CONSOLE_INSTALL: Type.String({
    default: '',
    description:
      'Command that the console shows to install a node, with `{node}`, `{version}` and `{url}` (of the archive) in it; empty shows the link alone.',
  }),
  TEMPORAL_UI_URL: Type.String({
    default: '',
    description: 'Address of the Temporal UI, which the console links platform admins to.',
  }),
  OWNER_TASK_LIMIT: count('Open tasks of an owner; over it creations are refused.', 10_000, 1),
  OWNER_BYTE_LIMIT: bytes('Bytes of files and payloads kept for an owner.', 100 * 2 ** 30),
  ADDRESS_TASK_LIMIT: count('Open tasks of an address without a credential.', 1000, 1),
  ADDRESS_BYTE_LIMIT: bytes('Bytes kept for an address without a credential.', 10 * 2 ** 30),
  STORAGE: Type.Enum(['local', 's3'], {
    default: 'local',
    description: 'Where files are kept: in a folder that all processes share, or in a bucket.',
  }),
  STORAGE_ALSO: Type.Enum(['none', 'local', 's3'], {
    default: 'none',
    description:
      'A second store that files are read from and removed from, while they move between the two.',
  }),
  STORAGE_PATH: text('Folder of the local store.', '.data/storage'),
  S3_ENDPOINT: Type.String({
    default: '',
    description: 'Address of the S3 server; without it that of AWS in S3_REGION.',
  }),
  S3_REGION: text('Region of the bucket; most servers other than AWS take any.', 'us-east-1'),
  S3_BUCKET: Type.String({ default: '', description: 'The bucket, which exists already.' }),
  S3_PREFIX: Type.String({
    default: '',
    maxLength: 512,
    pattern: '^([A-Za-z0-9_+-][A-Za-z0-9._+-]*(/[A-Za-z0-9_+-][A-Za-z0-9._+-]*)*)?$',
    description: 'Folder of the bucket in which all files are, such as `kiln/files`.',
    'x-expectation': 'a path without a slash at its ends',
  }),
  S3_PATH_STYLE: flag(
    'Puts the bucket into the path of requests and not into the host name; most servers other than AWS need it.',
  ),
  S3_ACCESS_KEY_ID: Type.String({
    default: '',
    description:
      'Key of the bucket. Without it the SDK of AWS looks for one: AWS_ variables, shared files, the role of the machine.',
  }),
  S3_SECRET_ACCESS_KEY: Type.String({ default: '', description: 'Its secret.' }),
  S3_REDIRECT: Type.Enum(['on', 'off'], {
    default: 'off',
    description:
      'Whether links of pictures and videos lead on to the bucket, by an address that it has signed for some minutes. Callers must reach S3_ENDPOINT.',
  }),
  SCRATCH_PATH: Type.String({
    default: '',
    description:
      'Folder of this machine for unfinished files where STORAGE is s3; without it one below the temporary folder. A local store has them in its own folder.',
  }),
  ADMIN_SUBJECTS: list('Subjects of the tokens of platform admins, who moderate the registry.'),
  ADMIN_CLAIM: Type.String({
    default: '',
    description:
      'A claim, `name=value`, whose bearers are platform admins, too; a list has it when one item is the value.',
  }),
  METRICS_PORT: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 65_535,
      description:
        'Port of `GET /metrics` and `GET /health` of each process; 0 takes a free one, without it there is none. The embedded stack gives its core worker the next port and its media worker the one after.',
    }),
  ),
  METRICS_HOST: text(
    'Address that this port listens on; whoever reaches it needs no credential.',
    '127.0.0.1',
  ),
  OTEL_EXPORTER_OTLP_ENDPOINT: Type.String({
    default: '',
    description:
      'Address of a collector of OpenTelemetry (OTLP over HTTP) that traces are sent to; without it nothing is traced. Other settings of its SDK hold, such as OTEL_TRACES_SAMPLER.',
  }),
  CORS_ORIGINS: list(
    'Origins, such as https://registry.example.com, whose pages may call every route; public reads are for all.',
  ),
  RATE_LIMITS: Type.String({
    pattern: '^(on|off|\\d{1,6}(\\.\\d{1,6})?)$',
    default: 'on',
    description: 'Quotas of requests: `on`, `off`, or a factor for all of them.',
    'x-expectation': 'on, off or a factor',
  }),
  STREAMS_MAX: count(
    'Streams and waiting reads that one api holds open at once; one address and one account have a tenth of them.',
    2000,
    10,
    50_000,
  ),
  TRUST_PROXY: list(
    'Addresses and networks (CIDR) of the proxies whose X-Forwarded-For names the client, or `none`. In production an api needs it: without it all callers behind a proxy are one.',
  ),
  SIGNING_KEYS: list('Keys of signed links, 32 bytes of Base64 each; the first signs, all verify.'),
  SECRETS_KEYS: list(
    'Keys that encrypt secrets at rest, 32 bytes of Base64 each; the first encrypts, all are tried.',
  ),
  WEBHOOK_DEFAULT_SECRET: Type.String({
    default: '',
    description:
      'Signs the notifications of anonymous callers: `whsec_` and the Base64 of 24 to 64 bytes.',
  }),
  WEBHOOK_TIME_FACTOR: Type.Number({
    exclusiveMinimum: 0,
    maximum: 1,
    default: 1,
    description: 'Shortens the schedule of notifications; tests only, never in production.',
  }),
  LOG_LEVEL: Type.Enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
    default: 'info',
    description: 'Least level that is logged.',
  }),
  WORKER_ROLE: Type.Enum(['core', 'media'], {
    default: 'core',
    description: 'What a worker does: workflows and moves, or rendering.',
  }),
  MEDIA_SLOTS: count('Renderings at once in a media worker; one a core.', 2, 1, 256),
  WORKFLOW_BUNDLE: Type.Optional(
    text('Prebuilt workflow bundle; without it the core worker bundles at its start.'),
  ),
  IMAGE_MAX_BYTES: count('Largest image in bytes, decoded.', 50_000_000, 1),
  IMAGE_MAX_PIXELS: count('Largest image in pixels.', 100_000_000, 1),
  IMAGE_URL_TIMEOUT_SECONDS: count('Time for the download of one image.', 30, 1, 3600),
  IMAGE_URL_REDIRECTS: count('Redirects followed for one image.', 5, 0, 20),
  IMAGE_DEADLINE_SECONDS: count('Time from IN_PROGRESS until a task fails.', 1800, 1, 86_400),
  IMAGE_ENGINE: engine('image tasks'),
  VENDOR_IMAGE_URL: upstreamUrl('image tasks'),
  VENDOR_IMAGE_KEY: upstreamKey('VENDOR_IMAGE_URL'),
  VENDOR_IMAGE_RATE: perSecond('VENDOR_IMAGE_URL'),
  VENDOR_IMAGE_CONCURRENCY: atOnce('VENDOR_IMAGE_URL'),
  VIDEO_ENGINE: engine('video tasks'),
  VENDOR_VIDEO_URL: upstreamUrl('video tasks'),
  VENDOR_VIDEO_KEY: upstreamKey('VENDOR_VIDEO_URL'),
  VENDOR_VIDEO_RATE: perSecond('VENDOR_VIDEO_URL'),
  VENDOR_VIDEO_CONCURRENCY: atOnce('VENDOR_VIDEO_URL'),
  VENDOR_SLOTS: count('Tasks that one core worker has at upstreams at once.', 50, 1, 1000),
  RESULT_LINK_SECONDS: count('Least life of a link to a result.', 86_400, 3600),
  RESULT_RETENTION_DAYS: count('Days that files stay after the end of their task.', 30, 1, 36_500),
  UPLOAD_EXPIRY_SECONDS: count(
    'Time from a publication until the upload of its archive must have begun.',
    3600,
    1,
    2_592_000,
  ),
  ARCHIVE_MAX_BYTES: count('Largest archive of a version in bytes.', 268_435_456, 1),
  VIDEO_AUTH: Type.Enum(['optional', 'required'], {
    default: 'optional',
    description: 'Whether video routes need a credential. One that is sent must always be valid.',
  }),
  VIDEO_EXTEND_SOURCE: Type.Enum(['both', 'any'], {
    default: 'both',
    description: 'Whether an extension needs `video_creation_id` and `video_url`, or one of them.',
  }),
  VIDEO_CONCURRENCY_PER_OWNER: count(
    'Video tasks of an owner that are rendered or wait for a worker at once; the others queue.',
    5,
    1,
    10_000,
  ),
  ANONYMOUS_SLOTS: count(
    'The same of all callers without a credential together; each address counts as an owner.',
    20,
    1,
    100_000,
  ),
  OWNER_CREDIT_LIMIT: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 1_000_000_000,
      description:
        'Most credits of an owner, or of an address without a credential, charges minus refunds; without it there is no limit.',
    }),
  ),
  ANONYMOUS_REDELIVERIES_PER_EVENT: count(
    'Redeliveries of one event that anonymous callers may ask for.',
    5,
  ),
  ANONYMOUS_REDELIVERIES_PER_HOST: count(
    'Redeliveries an hour to one host that anonymous callers may ask for, all together.',
    100,
    1,
  ),
  VIDEO_DEADLINE_SECONDS: count('Time from processing until a task fails.', 1200, 1, 86_400),
  OFF_PEAK_DEADLINE_SECONDS: count(
    'Time from its creation until an off-peak task fails.',
    172_800,
    1,
    2_592_000,
  ),
  PUBLISH_AUTH: Type.Enum(['bearer+token', 'token'], {
    default: 'bearer+token',
    description:
      'What publishing needs beside a personal access token: a bearer token or API key of a member, or nothing.',
  }),
  OIDC_AUDIENCE: Type.Optional(
    text(
      '`aud` of the identity tokens that CI jobs exchange for one that publishes; without it the host of PUBLIC_URL.',
    ),
  ),
  MAX_PUBLISHERS_PER_USER: count('Publishers that one user may create.', 20, 1, 1_000_000),
  MAX_ENDPOINTS: count(
    'Endpoints that one owner of tasks, or one publisher, may have.',
    10,
    1,
    1000,
  ),
  SEARCH_MAX_DEPTH: count(
    'Largest page × page size of searches and of the list of versions.',
    10_000,
    100,
    10_000_000,
  ),
  EXTRACTION_TOKEN: Type.Optional(
    Type.String({
      minLength: 16,
      maxLength: 1024,
      pattern: '^[\\x21-\\x7e]+$',
      description:
        'Bearer token of those who register host nodes; without it anybody may, until the archive was read.',
      'x-expectation': '16 to 1024 visible ASCII characters',
    }),
  ),
  FFMPEG_PATH: Type.Optional(
    text('The ffmpeg to use; without it the one on PATH, else the packaged one.'),
  ),
  FFPROBE_PATH: Type.Optional(text('The ffprobe to use, found likewise.')),
  VIDEO_TINY: flag('Renders 8 frames of 96×64 whatever is asked for; fault tests only.'),
  OUTBOUND_ALLOW_LOOPBACK: flag(
    'Lets the URLs of callers reach this machine; never in production.',
  ),
  OUTBOUND_PORTS: list('Ports beside 443 and 8443 that URLs may name.'),
  OUTBOUND_DENY: list('Further networks (CIDR) that are never called.'),
  DRAIN_DELAY_SECONDS: count('Wait between unready and closing at the end of the api.', 2, 0, 300),
  RELAY_INTERVAL_MS: count('Pause between two passes of the outbox relay.', 1000, 10),
  RECONCILE_INTERVAL_SECONDS: count('Pause between two passes of reconcile.', 60, 1),
  RECONCILE_AFTER_SECONDS: count('Stillness after which a task is looked at.', 600, 1),
  DELIVERY_RUNS: count(
    'How many core workers make the first tries at telling receivers at once; one worker makes some hundred a second.',
    1,
    1,
    64,
  ),
  HEARTBEAT_SECONDS: count('Silence after which a render counts as lost.', 5, 1, 600),
  FAILPOINT: Type.Optional(
    text(
      'Kills the process at a named line, `<name>[:nth]`; fault tests only, never in production.',
    ),
  ),
  NODE_TLS_REJECT_UNAUTHORIZED: Type.Optional(
    text('Known so that production can refuse it when it is 0.'),
  ),
})
export type Env = Static<typeof Env>

/** The settings with lists split and durations in the units their names say. */
export type Config = Omit<Env, keyof Lists> & Lists

interface Lists {
  ADMIN_SUBJECTS: string[]
  DEVELOPMENT_USERS: string[]
  CONSOLE_AUTH_ORIGINS: string[]
  CORS_ORIGINS: string[]
  TRUST_PROXY: string[]
  SIGNING_KEYS: string[]
  SECRETS_KEYS: string[]
  OUTBOUND_PORTS: number[]
  OUTBOUND_DENY: string[]
}

/** The items of a list in a setting. */
export const splitList = (value: string): string[] =>
  value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')

/** Whether a bucket is used. */
export const hasBucket = ({ STORAGE, STORAGE_ALSO }: Pick<Env, 'STORAGE' | 'STORAGE_ALSO'>) =>
  STORAGE === 's3' || STORAGE_ALSO === 's3'
