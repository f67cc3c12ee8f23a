import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { withKept } from '../support/keep.ts'
import type { Keep } from '../support/keep.ts'
import { rateOf } from '../../bench/support/lanes.ts'
import { relight, startTaskClient } from '../../bench/support/task-client.ts'
import type { Entry } from '../support/entry.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { startS3Server, whyNoS3Server } from '../support/s3-server.ts'
import { startService } from '../support/service.ts'
import type { Service, ServiceOptions } from '../support/service.ts'
import { createDatabase, temporalAddress } from '../support/stack.ts'
import { waitFor } from '../support/wait.ts'
import { startCallers } from './callers.ts'
import type { Callers } from './callers.ts'
import { countBroken } from './found.ts'
import { PASS, startLink } from '../support/link.ts'
import type { Link, LinkMode } from '../support/link.ts'
import type { Say } from './run.ts'

const ADDRESSES = ['127.0.0.2', '127.0.0.3', '127.0.0.4']
const ROLES = ['api', 'core', 'media'] as const

/** One api, core and media worker with an address and a folder of their own, and their ways to the servers. */
interface Host {
  name: string
  url: string
  links: Record<'PostgreSQL' | 'Temporal' | 'S3', Link>
  start(): Promise<void>
  signal(name: NodeJS.Signals): void
  /** SIGKILL for all of it at once. */
  kill(): Promise<void>
}

export const testHosts = async (say: Say): Promise<boolean> => {
  const missing = await whyNoS3Server()
  if (missing !== undefined) {
    say(`skipped: ${missing}`)
    return true
  }
  await withKept((keep) => measureRates(keep, say))
  return await withKept((keep) => breakHosts(keep, say))
}

/** A render sleeps half a second and a host has four slots, so eight tasks a second are the most of one host. */
const measureRates = async (keep: Keep, say: Say): Promise<void> => {
  const { service, hosts } = await placeHosts(keep, {
    media: 'test/machines/sleeping-media.ts',
    env: { SLEEP_MS: '500', MEDIA_SLOTS: '4' },
  })
  const tasks = keep(await startTaskClient(service))
  const order = await relight()
  say('hosts | tasks/s | at most')
  for (const count of [1, 2, 3]) {
    await hosts[count - 1]?.start()
    let next = 0
    const run = () => tasks.run({ ...order, baseUrl: hosts[(next += 1) % count]?.url })
    await rateOf(count * 8, count * 8, run)
    const rate = await rateOf(count * 80, count * 8, run)
    say(`${count} | ${rate.toFixed(1)} | ${count * 8}`)
  }
}

const AWAY_MS = 8000

const breakHosts = async (keep: Keep, say: Say): Promise<boolean> => {
  const { service, hosts } = await placeHosts(keep, {
    env: { OVERRIDE_RECONCILE_AFTER_SECONDS: '15' },
  })
  await Promise.all(hosts.map((host) => host.start()))
  const urls = hosts.map((host) => host.url)
  const callers = keep(await startCallers(urls, await service.token('alice')))
  await waitFor('tasks are accepted', async () => callers.accepted.size >= 20)
  say(
    'what | accepted meanwhile | none accepted for | requests rejected | ended, after it was back',
  )
  const run = async (what: string, go: () => unknown, back: () => unknown): Promise<void> =>
    say(`${what} | ${await watch({ service, callers }, go, back)}`)
  const cut = (what: string, links: readonly Link[], name: 'hold' | 'reject'): Promise<void> => {
    const setAll = (mode: LinkMode) => () => links.forEach((link) => link.set(mode))
    return run(what, setAll({ name }), setAll(PASS))
  }

  const nothing = (): void => {}
  await run('nothing', nothing, nothing)
  for (const host of hosts) await run(`${host.name} killed`, host.kill, host.start)
  const [, second, third] = hosts
  for (const [name, link] of Object.entries(second?.links ?? {}))
    await cut(`${second?.name} cut off from ${name}`, [link], 'hold')
  await cut(`${third?.name} cut off from all`, Object.values(third?.links ?? {}), 'reject')
  await run(
    `${third?.name} stands still`,
    () => third?.signal('SIGSTOP'),
    () => third?.signal('SIGCONT'),
  )
  for (const name of ['PostgreSQL', 'Temporal', 'S3'] as const) {
    const links = hosts.map((host) => host.links[name])
    await cut(`all cut off from ${name}`, links, 'hold')
  }
  await run(
    'all hosts killed',
    () => Promise.all(hosts.map((host) => host.kill())),
    () => Promise.all(hosts.map((host) => host.start())),
  )
  await callers.stop()
  await untilEnded(service, callers)
  const token = await service.token('alice')
  const { sql } = service.database
  return await countBroken({ sql, callers, url: urls[0] ?? '', token }, say)
}

const watch = async (
  { service, callers }: { service: Service; callers: Callers },
  go: () => unknown,
  back: () => unknown,
): Promise<string> => {
  callers.longestGap()
  const before = callers.accepted.size
  callers.rejected.clear()
  await go()
  await sleep(AWAY_MS)
  await back()
  const meanwhile = callers.accepted.size - before
  const start = Date.now()
  await untilEnded(service, callers)
  const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`
  const gap = callers.longestGap()
  const rejected = [...callers.rejected].map(([why, count]) => `${count} × ${why}`).join(', ')
  return [meanwhile, seconds(gap), rejected || 'none', seconds(Date.now() - start)].join(' | ')
}

/** Waits for the end of what was accepted by now. */
const untilEnded = async ({ database: { sql } }: Service, { accepted }: Callers): Promise<void> => {
  const ids = [...accepted.keys()]
  const hasEnded = async (): Promise<boolean> => {
    const open = await sql`select from task where id = any(${ids}::uuid[]) and ended_at is null`
    return open.length === 0
  }
  await waitFor('what was accepted has ended', hasEnded, 2 * PATIENCE_MS)
}

const placeHosts = async (
  keep: Keep,
  { env = {}, ...options }: ServiceOptions,
): Promise<{ service: Service; hosts: Host[] }> => {
  const store = keep(await startS3Server())
  const database = await createDatabase()
  const service = keep(
    await startService({
      ...options,
      roles: [],
      database,
      env: {
        ...store.settings,
        OVERRIDE_DATABASE_TIMEOUT_MS: '1500',
        OVERRIDE_HEARTBEAT_SECONDS: '5',
        ...env,
      },
    }),
  )
  const targets = {
    PostgreSQL: Number(new URL(database.url).port),
    Temporal: Number(temporalAddress().split(':')[1]),
    S3: Number(new URL(store.endpoint).port),
  }
  const hosts = ADDRESSES.map((address) => placeHost(keep, { address, service, store, targets }))
  return { service, hosts: await Promise.all(hosts) }
}

interface Place {
  address: string
  service: Service
  store: { endpoint: string }
  targets: Record<keyof Host['links'], number>
}

const placeHost = async (
  keep: Keep,
  { address, service, store, targets }: Place,
): Promise<Host> => {
  const links = {
    PostgreSQL: keep(await startLink(`tcp://127.0.0.1:${targets.PostgreSQL}`, '127.0.0.10')),
    Temporal: keep(await startLink(`tcp://127.0.0.1:${targets.Temporal}`, '127.0.0.11')),
    S3: keep(await startLink(`tcp://127.0.0.1:${targets.S3}`, '127.0.0.12')),
  }
  const folder = await mkdtemp(join(tmpdir(), 'kiln-host-'))
  keep({ stop: () => rm(folder, { recursive: true, force: true }) })
  const port = service.settings['PORT']
  const env = {
    HOST: address,
    PUBLIC_URL: `http://${ADDRESSES[0]}:${port}`,
    DATABASE_URL: links.PostgreSQL.url(service.database.url),
    TEMPORAL_ADDRESS: `${links.Temporal.host}:${links.Temporal.port}`,
    S3_ENDPOINT: links.S3.url(store.endpoint),
    SCRATCH_PATH: join(folder, 'scratch'),
    STORAGE_PATH: join(folder, 'unused'),
    TMPDIR: folder,
  }
  let entries: Entry[] = []
  return {
    name: address,
    url: `http://${address}:${port}`,
    links,
    async start() {
      entries = await Promise.all(ROLES.map((role) => service.start(role, env)))
    },
    signal: (name) => entries.forEach((entry) => entry.signal(name)),
    kill: async () => void (await Promise.all(entries.map((entry) => entry.kill()))),
  }
}
