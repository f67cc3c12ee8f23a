import ipaddr from 'ipaddr.js'
import { Type } from 'typebox'
import type { Static } from 'typebox'

import { makeAddressJudge } from './adapters/outbound/address.ts'
import { decodeWebhookSecret } from './adapters/webhook.ts'
import { DELIVERY_SCHEDULE } from './domain/event/delivery-schedule.ts'
import type { DeliverySchedule } from './domain/event/delivery-schedule.ts'
import { fromText } from './domain/shared/from-text.ts'
import type { MediaLimits } from './domain/task/media-limits.ts'
import type { CheckTiming } from './domain/registry/check-timing.ts'
import type { RenderTiming, VideoTiming } from './domain/task/render-timing.ts'
import { makeValidator } from './domain/shared/validate.ts'

const text = (description: string, value?: string) =>
  Type.String({ minLength: 1, description, ...(value === undefined ? {} : { default: value }) })

const count = (description: string, value: number, minimum = 0, maximum = 2_147_483_647) =>
  Type.Integer({ minimum, maximum, default: value, description })

const flag = (description: string) => Type.Boolean({ default: false, description })

const list = (description: string) =>
  Type.String({ default: '', description: `${description} Separated by commas.` })

/** Every setting of every process. The page of settings, `.env.example` and the test of docker-compose.yml are made from it. */
export const Env = Type.Object({
  NODE_ENV: Type.Enum(['development', 'production', 'test'], {
    default: 'development',
    description: '`production` refuses the settings that only development may have.',
  }),
  DATABASE_URL: text('PostgreSQL 16 or later, as postgres://user:password@host:port/database.'),
  DATABASE_POOL: count('Connections of one process to PostgreSQL.', 10, 1, 500),
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
  STORAGE: Type.Enum(['local'], { default: 'local', description: 'Where files are kept.' }),
  STORAGE_PATH: text('Folder of the local store.', '.data/storage'),
  ADMIN_SUBJECTS: list('Subjects of the tokens of platform admins, who moderate the registry.'),
  ADMIN_CLAIM: Type.String({
    default: '',
    description:
      'A claim, `name=value`, whose bearers are platform admins, too; a list has it when one item is the value.',
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
  TRUST_PROXY: list(
    'Addresses and networks (CIDR) of proxies whose X-Forwarded-For names the client.',
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
  OWNER_CREDIT_LIMIT: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 1_000_000_000,
      description: 'Most credits of an owner, charges minus refunds; without it there is no limit.',
    }),
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
  MAX_PUBLISHERS_PER_USER: count('Publishers that one user may create.', 20, 1, 1_000_000),
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
  VIDEO_TINY: flag('Renders 8 frames of 64×36 whatever is asked for; fault tests only.'),
  OUTBOUND_ALLOW_LOOPBACK: flag(
    'Lets the URLs of callers reach this machine; never in production.',
  ),
  OUTBOUND_PORTS: list('Ports beside 443 and 8443 that URLs may name.'),
  OUTBOUND_DENY: list('Further networks (CIDR) that are never called.'),
  DRAIN_DELAY_SECONDS: count('Wait between unready and closing at the end of the api.', 2, 0, 300),
  RELAY_INTERVAL_MS: count('Pause between two passes of the outbox relay.', 1000, 10),
  RECONCILE_INTERVAL_SECONDS: count('Pause between two passes of reconcile.', 60, 1),
  RECONCILE_AFTER_SECONDS: count('Stillness after which a task is looked at.', 600, 1),
  HEARTBEAT_SECONDS: count('Silence after which a render counts as lost.', 10, 1, 600),
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
export interface Config extends Omit<
  Env,
  | 'SIGNING_KEYS'
  | 'SECRETS_KEYS'
  | 'OUTBOUND_PORTS'
  | 'OUTBOUND_DENY'
  | 'ADMIN_SUBJECTS'
  | 'CORS_ORIGINS'
  | 'TRUST_PROXY'
> {
  ADMIN_SUBJECTS: string[]
  CORS_ORIGINS: string[]
  TRUST_PROXY: string[]
  SIGNING_KEYS: string[]
  SECRETS_KEYS: string[]
  OUTBOUND_PORTS: number[]
  OUTBOUND_DENY: string[]
}

export class ConfigError extends Error {
  override name = 'ConfigError'
}

/** Reads the settings of a process. Throws one ConfigError that lists every fault and says what to set. */
export const readConfig = (environment: NodeJS.ProcessEnv): Config => {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''))
  const { value, faults } = makeValidator(Env)(fromText(Env, given))
  const env = value as Env
  const broken = new Set(faults.map((fault) => fault.field.slice(1)))
  const further = [...listFaults(env), ...productionFaults(env)]
  const messages = [
    ...faults.map((fault) => hideValue(fault.field.slice(1), fault.message)),
    ...further.filter(({ name }) => !broken.has(name)).map(({ message }) => message),
  ]
  if (messages.length > 0)
    throw new ConfigError(
      `the settings are not usable:\n${messages.map((message) => `  - ${message}`).join('\n')}\nSet them in the environment (.env.example lists all) and start again.`,
    )
  return {
    ...env,
    ADMIN_SUBJECTS: split(env.ADMIN_SUBJECTS),
    CORS_ORIGINS: split(env.CORS_ORIGINS),
    TRUST_PROXY: split(env.TRUST_PROXY),
    SIGNING_KEYS: split(env.SIGNING_KEYS),
    SECRETS_KEYS: split(env.SECRETS_KEYS),
    OUTBOUND_PORTS: split(env.OUTBOUND_PORTS).map(Number),
    OUTBOUND_DENY: split(env.OUTBOUND_DENY),
  }
}

/** Folders in which programs are looked for. */
export const readSearchPath = (): string => process.env['PATH'] ?? ''

/** What all quotas of requests are multiplied by; undefined when nobody is limited. */
export const readRateFactor = ({ RATE_LIMITS }: Config): number | undefined => {
  if (RATE_LIMITS === 'off') return undefined
  return RATE_LIMITS === 'on' ? 1 : Number(RATE_LIMITS)
}

/** What goes with the start of a workflow, and how many tasks of an owner run at once. */
export const readTimings = (
  config: Config,
): {
  timing: RenderTiming
  videoTiming: VideoTiming
  checkTiming: Partial<CheckTiming>
  slots: number
} => ({
  timing: {
    heartbeatSeconds: config.HEARTBEAT_SECONDS,
    deadlineSeconds: config.IMAGE_DEADLINE_SECONDS,
  },
  videoTiming: {
    heartbeatSeconds: config.HEARTBEAT_SECONDS,
    deadlineSeconds: config.VIDEO_DEADLINE_SECONDS,
    offPeakSeconds: config.OFF_PEAK_DEADLINE_SECONDS,
  },
  checkTiming: { heartbeatSeconds: config.HEARTBEAT_SECONDS },
  slots: config.VIDEO_CONCURRENCY_PER_OWNER,
})

/** When notifications are sent, and how long one waits whose receiver's host has enough requests at once. */
export const readDelivery = ({
  WEBHOOK_TIME_FACTOR: factor,
}: Config): { schedule: DeliverySchedule; putOffSeconds: number } => ({
  schedule: {
    ...DELIVERY_SCHEDULE,
    steps: DELIVERY_SCHEDULE.steps.map((step) => step * factor),
    busySeconds: DELIVERY_SCHEDULE.busySeconds * factor,
    retryAfterSeconds: DELIVERY_SCHEDULE.retryAfterSeconds * factor,
  },
  putOffSeconds: 5 * factor,
})

/** What a task may fetch: an image as the settings say; a watermark and a source video are bounded for good. */
export const readMediaLimits = (config: Config): MediaLimits => {
  const maxRedirects = config.IMAGE_URL_REDIRECTS
  return {
    maxPixels: config.IMAGE_MAX_PIXELS,
    image: {
      maxBytes: config.IMAGE_MAX_BYTES,
      timeoutMs: config.IMAGE_URL_TIMEOUT_SECONDS * 1000,
      maxRedirects,
    },
    watermark: { maxBytes: 8 * 2 ** 20, timeoutMs: 15_000, maxRedirects },
    video: { maxBytes: 512 * 2 ** 20, timeoutMs: 300_000, maxRedirects },
  }
}

/** Reads the settings from the process, or says what is wrong with them and ends it. */
export const loadConfig = (): Config => {
  try {
    return readConfig(process.env)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    process.stderr.write(`kiln: ${error.message}\n`)
    process.exit(1)
  }
}

const split = (value: string): string[] =>
  value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')

/** Settings that can hold a password or key are told of without their value. */
const hideValue = (name: string, message: string): string =>
  /KEYS|SECRET|DATABASE_URL|EXTRACTION_TOKEN/.test(name) && !message.endsWith('but is absent')
    ? `${name} is not usable`
    : message.slice(1)

interface SettingFault {
  name: keyof Env
  message: string
}

const listFaults = (env: Env): SettingFault[] => [
  ...keyFaults('SIGNING_KEYS', env.SIGNING_KEYS),
  ...keyFaults('SECRETS_KEYS', env.SECRETS_KEYS),
  ...secretFaults('WEBHOOK_DEFAULT_SECRET', env.WEBHOOK_DEFAULT_SECRET),
  ...portFaults('OUTBOUND_PORTS', env.OUTBOUND_PORTS),
  ...rangeFaults('OUTBOUND_DENY', env.OUTBOUND_DENY),
  ...networkFaults('TRUST_PROXY', env.TRUST_PROXY),
  ...factorFaults('RATE_LIMITS', env.RATE_LIMITS),
  ...originFaults('CORS_ORIGINS', env.CORS_ORIGINS),
  ...claimFaults('ADMIN_CLAIM', env.ADMIN_CLAIM),
  ...urlFaults('PUBLIC_URL', env.PUBLIC_URL),
  ...urlFaults('AUTH_JWKS_URL', env.AUTH_JWKS_URL),
]

const keyFaults = (name: keyof Env, value: string): SettingFault[] => {
  const keys = split(value)
  const bad = keys.some((key) => Buffer.from(key, 'base64').length !== 32)
  if (keys.length === 0)
    return [
      { name, message: `${name} is absent: give it the output of \`openssl rand -base64 32\`` },
    ]
  return bad ? [{ name, message: `${name} must hold keys of 32 bytes in Base64` }] : []
}

const secretFaults = (name: keyof Env, value: string): SettingFault[] => {
  const remedy = 'make one with `echo "whsec_$(openssl rand -base64 32)"`'
  if (value === '') return [{ name, message: `${name} is absent: ${remedy}` }]
  try {
    decodeWebhookSecret(value)
    return []
  } catch {
    return [{ name, message: `${name} must be whsec_ and the Base64 of 24 to 64 bytes: ${remedy}` }]
  }
}

const portFaults = (name: keyof Env, value: string): SettingFault[] =>
  split(value)
    .filter((port) => !/^\d{1,5}$/.test(port) || Number(port) < 1 || Number(port) > 65_535)
    .map((port) => ({ name, message: `${name} must be ports from 1 to 65535, got ${port}` }))

const rangeFaults = (name: keyof Env, value: string): SettingFault[] => {
  try {
    makeAddressJudge({ allowLoopback: false, deny: split(value) })
    return []
  } catch (error) {
    return [{ name, message: error instanceof Error ? error.message : String(error) }]
  }
}

const networkFaults = (name: keyof Env, value: string): SettingFault[] =>
  split(value)
    .filter((text) => !ipaddr.isValid(text) && !ipaddr.isValidCIDR(text))
    .map((text) => ({
      name,
      message: `${name} must be addresses or networks such as 10.0.0.0/8, got ${text}`,
    }))

const factorFaults = (name: keyof Env, value: string): SettingFault[] =>
  Number(value) === 0
    ? [{ name, message: `${name} must be on, off or a factor above 0, got ${value}` }]
    : []

/** Browsers send an origin without a path, and compare it as a text. */
const originFaults = (name: keyof Env, value: string): SettingFault[] =>
  split(value)
    .filter((text) => !URL.canParse(text) || new URL(text).origin !== text)
    .map((text) => ({
      name,
      message: `${name} must be origins such as https://registry.example.com, without a path, got ${text}`,
    }))

const claimFaults = (name: keyof Env, value: string): SettingFault[] =>
  value === '' || /^[^=]+=./s.test(value)
    ? []
    : [{ name, message: `${name} must be a claim as name=value, got ${value}` }]

const urlFaults = (name: keyof Env, value: string): SettingFault[] =>
  URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)
    ? []
    : [{ name, message: `${name} must be an http or https URL, got ${JSON.stringify(value)}` }]

const productionFaults = (env: Env): SettingFault[] => {
  if (env.NODE_ENV !== 'production') return []
  const refused: [boolean, keyof Env, string][] = [
    [env.OUTBOUND_ALLOW_LOOPBACK, 'OUTBOUND_ALLOW_LOOPBACK', 'must not be set'],
    [env.FAILPOINT !== undefined, 'FAILPOINT', 'must not be set'],
    [env.VIDEO_TINY, 'VIDEO_TINY', 'must not be set'],
    [env.WEBHOOK_TIME_FACTOR !== 1, 'WEBHOOK_TIME_FACTOR', 'must not be set'],
    [
      env.NODE_TLS_REJECT_UNAUTHORIZED === '0',
      'NODE_TLS_REJECT_UNAUTHORIZED',
      'must not be set to 0',
    ],
    [
      env.AUTH_ISSUER === DEVELOPMENT_ISSUER,
      'AUTH_ISSUER',
      'is the development issuer, which must not be used',
    ],
  ]
  return refused
    .filter(([wrong]) => wrong)
    .map(([, name, rule]) => ({ name, message: `${name} ${rule} in production` }))
}

/** `iss` of the tokens that the embedded stack's own issuer signs. */
export const DEVELOPMENT_ISSUER = 'urn:kiln:development'
