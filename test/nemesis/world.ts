import { makeFolder, type Keep } from '../support/keep.ts'
import { startIssuer } from '../../src/local/issuer.ts'
import { findPort } from '../../src/local/port.ts'
import type { Entry } from '../support/entry.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { startWebhookReceiver } from '../support/receiver.ts'
import { startService, type Role, type Service } from '../support/service.ts'
import { waitFor } from '../support/wait.ts'
import { startOwnPostgres, startOwnTemporal } from '../faults/servers.ts'
import { startLink, type Link } from '../support/link.ts'
import { startS3Server } from '../support/s3-server.ts'
import { makeClocks, mountDisk, startNamedReceiver, startTemporalStore } from './extras.ts'
import type { Extra } from './extras.ts'

/** Names of the processes of ours: two of each. */
export const MEMBERS = ['api-1', 'api-2', 'core-1', 'core-2', 'media-1', 'media-2'] as const
export type MemberName = (typeof MEMBERS)[number]

/** A process of ours that can be killed and started again. */
export interface Member {
  name: MemberName
  /** Base URL of an api. */
  baseUrl: string
  /** Undefined while it is down. */
  entry: Entry | undefined
  /** Everything that it said, over all its lives. */
  logs: string[][]
  kill(): Promise<void>
  start(): Promise<void>
}

export interface EndedPause {
  scope: string
  from: number
  to: number
}

/** Everything that a run needs, on ports of its own: servers, processes of ours, the links between them, receivers. */
export type World = Awaited<ReturnType<typeof startWorld>>

export interface WorldOptions {
  /** The folder of a build, whose processes run in place of those of this checkout. */
  release?: string | undefined
  /** Extras that faults need, all of which can be had. */
  needs?: ReadonlySet<Extra>
}

/** Videos of an owner that render at once. */
export const SLOTS = 20

/** Time-outs are shorter than in production, so that hundreds of faults fit into minutes. */
const SETTINGS = {
  OVERRIDE_VIDEO_TINY: 'true',
  OVERRIDE_HEARTBEAT_SECONDS: '2',
  OVERRIDE_DATABASE_TIMEOUT_MS: '1500',
  OVERRIDE_WEBHOOK_TIME_FACTOR: '0.01',
  OWNER_TASK_LIMIT: '100000',
  OWNER_CREDIT_LIMIT: '100000000',
  VIDEO_CONCURRENCY_PER_OWNER: String(SLOTS),
  METRICS_PORT: '0',
  OVERRIDE_RULES_INTERVAL_MS: '500',
}

export const startWorld = async (keep: Keep, { release, needs = new Set() }: WorldOptions) => {
  const { path: folder } = keep(await makeFolder())
  const link = async (to: string): Promise<Link> => keep(await startLink(to))

  const [postgres, receiver, named] = await Promise.all([
    startOwnPostgres(),
    startWebhookReceiver(),
    startNamedReceiver(folder),
  ])
  keep(receiver)
  keep(named)
  const s3 = needs.has('s3') ? keep(await startS3Server()) : undefined
  const store = needs.has('temporal-store') ? await startTemporalStore(postgres, folder) : undefined
  const temporal = store?.temporal ?? (await startOwnTemporal())
  /** Between the processes of ours and the servers, and to the receiver. */
  const links = {
    postgres: await link(postgres.database.url),
    temporal: await link(`http://${temporal.server.address}`),
    receiver: await link(receiver.url('/')),
    // It leads to the issuer of the service, once there is one.
    issuer: await link('http://127.0.0.1:1'),
    ...(store && { 'temporal-store': store.link }),
    ...(s3 && { s3: await link(s3.endpoint) }),
  }
  /** The same receiver on an address of its own, for what takes long. */
  const slow = keep(await startLink(receiver.url('/'), '127.0.0.3'))
  const clocks = needs.has('clock') ? makeClocks(folder) : undefined
  const service = await startService({
    roles: [],
    database: { ...postgres.database, url: links.postgres.url(postgres.database.url) },
    bucket: s3 && {
      folder: s3.folder,
      settings: { ...s3.settings, S3_ENDPOINT: links.s3?.url(s3.endpoint) },
    },
    env: { ...SETTINGS, ...named.env, TEMPORAL_ADDRESS: `127.0.0.1:${links.temporal.port}` },
  })
  // It drops the database, after Temporal has left it.
  keep(service)
  keep(temporal)
  const issuer = await startIssuer(service.issuerKey)
  keep({ stop: issuer.close })
  links.issuer.leadTo(Number(new URL(issuer.jwksUrl).port))
  const disk = needs.has('disk') ? keep(await mountDisk(service.storagePath)) : undefined

  const members = new Map<string, Member>()
  for (const name of MEMBERS) {
    await clocks?.set(name, '+0')
    const own = { AUTH_JWKS_URL: links.issuer.url(issuer.jwksUrl), ...clocks?.envOf(name) }
    members.set(name, await makeMember({ service, name, env: own, release }))
  }
  const all = [...members.values()]
  keep({ stop: () => Promise.all(all.map((one) => one.kill())) })
  await Promise.all(all.map((one) => one.start()))
  /** Pauses that have ended, in milliseconds of the clock of the database. */
  const pauses: EndedPause[] = []
  const servers = { postgres, temporal, links, receiver, slow, named, disk, clocks }
  return { service, ...servers, members, pauses }
}

interface MemberOptions extends Pick<WorldOptions, 'release'> {
  service: Service
  name: MemberName
  env: NodeJS.ProcessEnv
}

const makeMember = async (options: MemberOptions): Promise<Member> => {
  const { service, name, env, release } = options
  const role = name.split('-')[0] as Role
  // Links lead to the first api, as they would to what stands before both.
  const port = name === 'api-2' ? await findPort() : undefined
  const own = { ...env, ...(port !== undefined && { PORT: String(port) }) }
  const member: Member = {
    name,
    baseUrl: port === undefined ? service.baseUrl : `http://127.0.0.1:${port}`,
    entry: undefined,
    logs: [],
    async kill() {
      const { entry } = member
      member.entry = undefined
      await entry?.kill()
    },
    async start() {
      // One that ends because a server is away is started again, as an operator's system does.
      const start = () => service.start(role, own, release).catch(() => undefined)
      const entry = await waitFor(`${name} starts`, start, 2 * PATIENCE_MS)
      member.entry = entry
      member.logs.push(entry.log)
    },
  }
  return member
}
