import { Type, type Static } from 'typebox'

import type { OutboundRules } from '../outbound/client.ts'
import {
  text,
  optionalText,
  choice,
  count,
  flag,
  list,
  visible,
  constant,
  type WithLists,
} from './schema.ts'

/** Settings of what every area stands on. */
export const PlatformSettings = Type.Object({
  NODE_ENV: choice(
    ['development', 'production', 'test'],
    'development',
    '`production` rejects settings that only development may have.',
  ),
  DATABASE_URL: text(
    'PostgreSQL 16 or later, as postgres://user:password@host:port/database; sslmode, sslrootcert, sslcert and sslkey have the meaning of libpq.',
  ),
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
  TEMPORAL_TLS_CLIENT_CERT_PATH: optionalText(
    'PEM file of the certificate that is shown to Temporal. Files are read again when they change.',
  ),
  TEMPORAL_TLS_CLIENT_KEY_PATH: optionalText('PEM file of its private key.'),
  TEMPORAL_CONFIG_FILE: optionalText(
    "TOML file with profiles of Temporal's SDKs and command line; variables count before it. Other TEMPORAL_ settings of its SDKs hold, such as TEMPORAL_PROFILE.",
  ),
  TEMPORAL_DATABASE_URL: optionalText(
    "Temporal's database on PostgreSQL, whose size, with that of `<name>_visibility`, doctor and the metrics say.",
  ),
  TASK_QUEUE: text(
    'Task queue of workflows and light activities; rendering adds `-media`.',
    'kiln',
  ),
  PUBLIC_URL: text('Address callers reach the api at; every link is built from it.'),
  HOST: text('Address the api listens on.', '127.0.0.1'),
  PORT: count('Port the api listens on; 0 takes a free one.', 8080, 0, 65_535),
  CONSOLE: choice(
    ['on', 'off'],
    'on',
    'Whether the api serves the web console under `/console/`, and leads there from `/`.',
  ),
  CONSOLE_SAMPLES: choice(
    ['on', 'off'],
    'off',
    'Whether Try shows visitors who are not signed in results that were computed before; they can send nothing.',
  ),
  TEMPORAL_UI_URL: optionalText(
    'Address of the Temporal UI, which the console links platform admins to.',
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
  S3_PUBLIC_ENDPOINT: optionalText(
    'Address of the same server for callers, which S3_REDIRECT leads to; without it S3_ENDPOINT.',
  ),
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
    'Leads links of pictures and videos on to the bucket. Callers must reach S3_PUBLIC_ENDPOINT.',
  ),
  SCRATCH_PATH: optionalText(
    'Folder of this machine for unfinished files beside a bucket; else one in the temporary folder.',
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
  TRUST_PROXY: list(
    'Addresses and networks (CIDR) of the proxies whose X-Forwarded-For names the client, or `none`.',
  ),
  SIGNING_KEYS: list('Keys of signed links, 32 bytes of Base64 each; the first signs, all verify.'),
  SECRETS_KEYS: list(
    'Keys that encrypt secrets at rest, 32 bytes of Base64 each; the first encrypts, all are tried.',
  ),
  LOG_LEVEL: choice(
    ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
    'info',
    'Least level that is logged.',
  ),
  LOG_CHANGES: choice(
    ['on', 'off'],
    'on',
    'Whether a line is logged for each request that changed something and each task that ended, at level info.',
  ),
  WORKER_ROLE: choice(['core', 'media'], 'core', 'What a worker does: workflows, or rendering.'),
  WORKER_VERSIONING: flag(
    "Whether Temporal gives work to the current version of the Worker Deployment `kiln` alone, which an operator sets after a release's workers have started. Build id is the release.",
  ),
  WIRE_ALIASES: optionalText(
    'JSON file of other names for paths, query, members and enum values, which clients may use beside those of the interface.',
  ),
  OUTBOUND_PORTS: list('Ports beside 443 and 8443 that URLs may name.'),
  OUTBOUND_DENY: list('Further networks (CIDR) that are never called.'),
  OUTBOUND_PROXY: optionalText(
    'Forward proxy that requests leave by, as http://user:password@host:port; HTTP_PROXY and the like have no effect.',
  ),
  OUTBOUND_NO_PROXY: list(
    'What is called without it: names, names below a .suffix, addresses, networks (CIDR).',
  ),
  OUTBOUND_PROXY_RESOLVES: flag(
    'Gives the proxy names, where this machine resolves none. What they resolve to is checked nowhere then.',
  ),
  DRAIN_DELAY_SECONDS: count('Wait between unready and closing at the end of the api.', 2, 0, 300),
})

/** Numbers of what every area stands on that an operator has no reason to change. */
export const PlatformConstants = Type.Object({
  /**
   * Longest statement of a request; all its statements together may take a fifth longer. A caller repeats what takes longer,
   * and a pool of ten connections serves nobody while it works for callers who have left.
   */
  DATABASE_TIMEOUT_MS: constant(1500, 100, 60_000),
  /** Longest check of the doctor. */
  DOCTOR_CHECK_MS: constant(15_000, 1000),
  /**
   * Streams and waiting reads that one api holds open at once; one address and one account have a tenth of them. Each takes
   * 31 kB and a connection.
   */
  STREAMS_MAX: constant(2000, 10, 50_000),
  /** Lets the URLs of callers reach this machine, on the embedded stack. */
  OUTBOUND_ALLOW_LOOPBACK: Type.Boolean({ default: false }),
  /** Pause until the way to Temporal is read again: a certificate is replaced days before it ends. */
  TEMPORAL_RENEWAL_MS: constant(60_000, 100),
  /** Least life of a link to a result: who polls once a day still finds one that works. */
  RESULT_LINK_SECONDS: constant(86_400, 3600),
  /** Pause until pauses, rules of owners and templates are read again, where no notification or end of a pause comes before. */
  RULES_INTERVAL_MS: constant(10_000, 10),
  /** Prebuilt workflows of a checkout; absent: `npm run build` has put them beside the worker. */
  WORKFLOW_BUNDLE: Type.Optional(Type.String({ minLength: 1 })),
  /** Kills the process at a named line, `<name>[:nth]`, for tests. */
  FAILPOINT: Type.Optional(Type.String({ minLength: 1 })),
  /** Pause between two passes of the outbox relay, which starts what no api has started by itself; longer in quiet times. */
  RELAY_INTERVAL_MS: constant(1000, 10),
  /** Pause between two passes of reconcile: each reads the open tasks. */
  RECONCILE_INTERVAL_SECONDS: constant(60, 1),
  /** Stillness after which reconcile asks Temporal about a task: longer than a worker needs for its longest step. */
  RECONCILE_AFTER_SECONDS: constant(600, 1),
})

export type PlatformConfig = Omit<
  WithLists<
    Static<typeof PlatformSettings> & Static<typeof PlatformConstants>,
    | 'CORS_ORIGINS'
    | 'TRUST_PROXY'
    | 'SIGNING_KEYS'
    | 'SECRETS_KEYS'
    | 'OUTBOUND_DENY'
    | 'OUTBOUND_NO_PROXY'
  >,
  'OUTBOUND_PORTS'
> & { OUTBOUND_PORTS: number[] }

/**
 * The database by way of the pooler, where there is one, and past it. Prepared statements would stay behind in sessions
 * that a pooler has lent to others since.
 */
export const readAddresses = ({
  DATABASE_URL: url,
  DATABASE_DIRECT_URL: direct,
}: PlatformConfig): { pooled: { url: string; prepare: boolean }; direct: string } => ({
  pooled: { url, prepare: direct === undefined },
  direct: direct ?? url,
})

/** Makes the function that returns the address of a workflow in the Temporal UI; undefined without TEMPORAL_UI_URL. */
export const makeWorkflowUrl =
  ({ TEMPORAL_UI_URL: url, TEMPORAL_NAMESPACE: namespace }: PlatformConfig) =>
  (id: string): string | undefined =>
    url === ''
      ? undefined
      : `${url.replace(/\/+$/, '')}/namespaces/${encodeURIComponent(namespace)}/workflows${id && `/${encodeURIComponent(id)}`}`

/** Reads which addresses of callers may be called, and by which way. */
export const readOutboundRules = (config: PlatformConfig): OutboundRules => ({
  allowLoopback: config.OUTBOUND_ALLOW_LOOPBACK,
  ports: config.OUTBOUND_PORTS,
  deny: config.OUTBOUND_DENY,
  proxy:
    config.OUTBOUND_PROXY === ''
      ? undefined
      : {
          url: config.OUTBOUND_PROXY,
          resolves: config.OUTBOUND_PROXY_RESOLVES,
          bypass: config.OUTBOUND_NO_PROXY,
        },
})

/** Lists what settings leave to others, for the log of a start and the doctor. */
export const listRisks = ({ OUTBOUND_PROXY: proxy, ...config }: PlatformConfig): string[] =>
  config.OUTBOUND_PROXY_RESOLVES && proxy !== ''
    ? [
        'OUTBOUND_PROXY_RESOLVES is true: only the proxy can keep names that resolve to addresses of your network from being called; have it deny those addresses',
      ]
    : []

/** Reads how links to files are signed. */
export const readLinks = (config: PlatformConfig) => ({
  keys: config.SIGNING_KEYS,
  publicUrl: config.PUBLIC_URL,
  linkSeconds: config.RESULT_LINK_SECONDS,
})
