import { findPort } from '../../src/local/port.ts'
import type { Entry } from '../support/entry.ts'
import { startWebhookReceiver } from '../support/receiver.ts'
import type { WebhookReceiver } from '../support/receiver.ts'
import { startService } from '../support/service.ts'
import type { Role, Service } from '../support/service.ts'
import { waitFor } from '../support/wait.ts'
import { startOwnPostgres, startOwnTemporal } from '../faults/servers.ts'
import type { OwnPostgres, OwnTemporal } from '../faults/servers.ts'
import { startLink } from '../support/link.ts'
import type { Link } from '../support/link.ts'

/** Names of the processes of ours: two of each. */
export const MEMBERS = ['api-1', 'api-2', 'core-1', 'core-2', 'media-1', 'media-2'] as const
export type MemberName = (typeof MEMBERS)[number]

/** A process of ours that can be killed and started again. */
export interface Member {
  name: MemberName
  /** Of an api. */
  baseUrl: string
  /** Undefined while it is down. */
  entry: Entry | undefined
  /** Everything that it said, over all its lives. */
  logs: string[][]
  kill(): Promise<void>
  start(env?: NodeJS.ProcessEnv): Promise<void>
}

/** Everything that a run needs, on ports of its own: servers, processes of ours, the links between them, a receiver. */
export interface World {
  service: Service
  postgres: OwnPostgres
  temporal: OwnTemporal
  /** Between the processes of ours and the servers, and to the receiver. */
  links: Record<'postgres' | 'temporal' | 'receiver', Link>
  receiver: WebhookReceiver
  members: ReadonlyMap<MemberName, Member>
  stop(): Promise<void>
}

export interface WorldOptions {
  env?: NodeJS.ProcessEnv
  /** The folder of a build, whose processes run in place of those of this checkout. */
  release?: string | undefined
}

/** Time-outs are shorter than in production, so that hundreds of faults fit into minutes. */
const SETTINGS = {
  VIDEO_TINY: 'true',
  HEARTBEAT_SECONDS: '2',
  DATABASE_TIMEOUT_MS: '1500',
  WEBHOOK_TIME_FACTOR: '0.01',
  OWNER_TASK_LIMIT: '100000',
  OWNER_CREDIT_LIMIT: '100000000',
  VIDEO_CONCURRENCY_PER_OWNER: '20',
  METRICS_PORT: '0',
}

const PATIENCE_MS = 120_000

export const startWorld = async ({ env = {}, release }: WorldOptions = {}): Promise<World> => {
  const [postgres, temporal, receiver] = await Promise.all([
    startOwnPostgres(),
    startOwnTemporal(),
    startWebhookReceiver(),
  ])
  const links = {
    postgres: await startLink(hostOf(new URL(postgres.database.url))),
    temporal: await startLink(hostOf(new URL(`http://${temporal.server.address}`))),
    receiver: await startLink({ host: '127.0.0.1', port: receiver.port }),
  }
  const url = new URL(postgres.database.url)
  url.port = String(links.postgres.port)
  const service = await startService({
    roles: [],
    database: { ...postgres.database, url: url.href },
    env: { ...SETTINGS, TEMPORAL_ADDRESS: `127.0.0.1:${links.temporal.port}`, ...env },
  })
  const members = new Map<MemberName, Member>()
  const stop = async (): Promise<void> => {
    await service.stop()
    await temporal.stop()
    await receiver.stop()
    await Promise.all(Object.values(links).map((link) => link.stop()))
  }
  try {
    for (const name of MEMBERS) members.set(name, await makeMember(service, name, release))
    await Promise.all([...members.values()].map((member) => member.start()))
  } catch (error) {
    await stop()
    throw error
  }
  return { service, postgres, temporal, links, receiver, members, stop }
}

const hostOf = ({ hostname: host, port }: URL): { host: string; port: number } => ({
  host,
  port: Number(port),
})

const makeMember = async (
  service: Service,
  name: MemberName,
  release: string | undefined,
): Promise<Member> => {
  const role = name.split('-')[0] as Role
  // Links lead to the first api, as they would to what stands before both.
  const port = name === 'api-2' ? await findPort() : undefined
  const own = port === undefined ? {} : { PORT: String(port) }
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
    async start(env) {
      // One that ends because a server is away is started again, as an operator's system does.
      const entry = await waitFor(
        `${name} starts`,
        () => service.start(role, { ...own, ...env }, release).catch(() => undefined),
        PATIENCE_MS,
      )
      member.entry = entry
      member.logs.push(entry.log)
    },
  }
  return member
}
