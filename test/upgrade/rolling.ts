/**
 * Upgrades a service: the release serves callers with some two hundred tasks in every state, the migrations run, and each
 * process is replaced by one of this checkout. From a release before admissions all processes are stopped meanwhile; from
 * any other, callers go on all the time.
 */
import { setTimeout as sleep } from 'node:timers/promises'

import { Client, Connection } from '@temporalio/client'

import { migrate } from '../../src/platform/db/migrate.ts'
import { endEarlierRuns } from '../../src/tasks/temporal/end-earlier.ts'
import { secondsSince } from '../../src/local/console.ts'
import { findPort } from '../../src/local/port.ts'
import { assertRows } from '../faults/ledger.ts'
import type { Entry } from '../support/entry.ts'
import { listFailedSteps } from '../support/failed-steps.ts'
import { withKept } from '../support/keep.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { makePicture } from '../support/pictures.ts'
import { respond, heldUntil, startWebhookReceiver } from '../support/receiver.ts'
import type { Reply, WebhookReceiver } from '../support/receiver.ts'
import { startTestServers } from '../support/servers.ts'
import { startService } from '../support/service.ts'
import type { Service } from '../support/service.ts'
import { temporalAddress } from '../support/stack.ts'
import { makeLatch, waitFor } from '../support/wait.ts'
import { startBalancer } from './balancer.ts'
import type { Balancer } from './balancer.ts'
import { createReleaseDatabase } from './release.ts'
import { makeStates, needsStop, SLOW_ITEMS, startElsewhere } from './states.ts'
import type { States } from './states.ts'
import { startTraffic } from './traffic.ts'
import type { Traffic } from './traffic.ts'

type Say = (line: string) => void

/** A day of the schedule takes 86 s: seven attempts have failed after 113 s, and the last is made after 272 s. */
const TIME_FACTOR = '0.001'
const DAY_TWO_ATTEMPTS = 7
/** Phase in which no process runs: what callers ask for then fails. */
const STOP = 'stop'
const LONG_MS = 4 * PATIENCE_MS
/** Longer than a balancer takes to see that an api stops, shorter than that waits. */
const UPLOAD_MS = 3000

interface Started {
  service: Service
  balancer: Balancer
  receiver: WebhookReceiver
  /** Folder of the release; undefined: this checkout. */
  release: string | undefined
  say: Say
}

interface Upgrade extends Started {
  release: string
  traffic: Traffic
  states: States
}

/** Returns true when nothing was lost. */
export const testUpgrade = async (release: string, say: Say): Promise<boolean> => {
  return await withKept(async (keep) => {
    const servers = keep(await startTestServers(say))
    Object.assign(process.env, servers.env)
    const balancer = keep(await startBalancer())
    const receiver = keep(await startWebhookReceiver())
    const elsewhere = keep(await startElsewhere())
    const env = { PUBLIC_URL: balancer.url, ...elsewhere.settings }
    const service = keep(await prepareService(release, env))
    const all = { service, balancer, receiver, release, say }
    const old = await startRelease(all)
    const traffic = await startTraffic(balancer.url, await service.token('alice'))
    const states = makeStates({
      ...all,
      url: balancer.url,
      webhook: receiver.url('/ok'),
      elsewhere,
    })
    return await upgrade({ ...all, traffic, states }, old)
  })
}

/** A database at the release's schema, and settings; no process yet. */
const prepareService = async (release: string, env: NodeJS.ProcessEnv): Promise<Service> => {
  return await startService({
    roles: [],
    database: await createReleaseDatabase('upgrade', release),
    env: {
      ...env,
      ADMIN_SUBJECTS: 'root',
      DRAIN_DELAY_SECONDS: '2',
      OVERRIDE_WEBHOOK_TIME_FACTOR: TIME_FACTOR,
      OVERRIDE_VIDEO_TINY: 'true',
      // An older release has it as a setting.
      VIDEO_TINY: 'true',
      VIDEO_CONCURRENCY_PER_OWNER: '2',
      OVERRIDE_IMAGE_URL_TIMEOUT_SECONDS: '600',
      OVERRIDE_RECONCILE_INTERVAL_SECONDS: '5',
    },
  })
}

type Running = Record<'api' | 'core' | 'media', Entry[]>

const startRelease = async (all: Started): Promise<Running> => {
  const env = all.release === undefined ? {} : SLOW_ITEMS
  const start = (role: 'core' | 'media') => all.service.start(role, env, all.release)
  return {
    api: [await startApi(all, all.release), await startApi(all, all.release)],
    core: await Promise.all([start('core'), start('core')]),
    media: await Promise.all([start('media'), start('media')]),
  }
}

/** Puts processes of this checkout, or of a release, in the place of those that run. `links` are uploaded meanwhile. */
const replace = async (
  all: Upgrade,
  old: Running,
  { release, links = [] }: { release?: string; links?: string[] } = {},
): Promise<Running> => {
  const { service, traffic } = all
  const what = release ? 'back: ' : ''
  const made: Running = { api: [], core: [], media: [] }

  traffic.begin(`${what}core workers`)
  if (process.env['ORDER'] !== 'mixed') {
    // All end before one of the others begins: no workflow is run by both in turns.
    await Promise.all(old.core.map(drain))
    made.core = await Promise.all(old.core.map(() => service.start('core', {}, release)))
  } else
    for (const entry of old.core) {
      made.core.push(await service.start('core', {}, release))
      await drain(entry)
    }

  traffic.begin(`${what}media workers`)
  for (const entry of old.media) {
    await drain(entry)
    made.media.push(await service.start('media', {}, release))
  }

  traffic.begin(`${what}apis`)
  const uploads: Promise<void>[] = []
  for (const [index, entry] of old.api.entries()) {
    made.api.push(await startApi(all, release))
    uploads.push(traffic.upload(links[index] ?? '', UPLOAD_MS))
    await drain(entry)
  }
  await Promise.all(uploads)
  return made
}

const startApi = async ({ service, balancer }: Started, release?: string): Promise<Entry> => {
  const port = await findPort()
  const entry = await service.start('api', { PORT: String(port) }, release)
  balancer.ports.add(port)
  await waitFor('the balancer sees the api', async () => balancer.isReady(port))
  return entry
}

const upgrade = async (all: Upgrade, old: Running): Promise<boolean> => {
  const { service, traffic, receiver, release, states, say } = all
  const isStopped = needsStop(release)
  const stopping = new AbortController()
  const { open: heal, opened: healed } = makeLatch()
  await fillStates(all, healed)
  // Else others render meanwhile.
  if (isStopped) await holdSlots(all, healed)
  const awaited: string[] = []
  while (awaited.length < 20) awaited.push(await traffic.publish())
  const [links, late] = [awaited.slice(0, 2), awaited.slice(2)]

  traffic.begin('release')
  const calling = [0, 1, 2].map((lane) =>
    traffic.run(stopping.signal, (n) => receiver.url(`/ok/${lane}/${n}`)),
  )
  await states.begin()

  traffic.begin(isStopped ? STOP : 'migrations')
  if (isStopped) await Promise.all(Object.values(old).flat().map(drain))
  const before = await readStates(service)
  const start = Date.now()
  const applied = await migrate(service.database.url)
  say(`${applied.length} migrations in ${secondsSince(start)}`)
  receiver.script('/later', respond(204))
  if (isStopped) {
    const connection = await Connection.connect({ address: temporalAddress() })
    say(`${await endEarlierRuns(connection, 'default')} runs of the release ended`)
    await connection.close()
    await startRelease({ ...all, release: undefined })
    await Promise.all(links.map((link) => traffic.upload(link)))
  } else {
    await sleep(3000)
    const running = await replace(all, old, { links })
    if (process.env['ORDER'] === 'back')
      await replace(all, await replace(all, running, { release }))
  }

  traffic.begin('new code')
  heal()
  await states.heal()
  await Promise.all(late.map((link) => traffic.upload(link)))
  stopping.abort()
  await Promise.all(calling)
  const settled = await waitFor('everything has ended', () => hasSettled(service), LONG_MS).then(
    () => true,
    (error: unknown) => say(String(error)),
  )
  await report(all, before)
  const zeros = { ...(await countLosses(all)), ...(await states.countWrong()) }
  for (const [name, count] of Object.entries(zeros))
    say(`upgrade.${name} ${count} aim <= 0 ${count === 0 ? 'ok' : 'short'}`)
  return settled === true && Object.values(zeros).every((count) => count === 0)
}

/** As a supervisor stops it: SIGTERM, and it ends by itself. */
const drain = async (entry: Entry): Promise<void> => {
  entry.signal('SIGTERM')
  const how = await entry.end()
  if (how !== '0') throw new Error(`a process of the release ended by ${how}: ${entry.log.at(-1)}`)
}

/** Tasks that cannot go on until something heals, in every state; then a queue of some that can. */
const fillStates = async (
  { service: { database }, receiver, traffic, states, say }: Upgrade,
  healed: Promise<void>,
): Promise<void> => {
  receiver.script('/later', respond(500))
  const held = await makeHeld(receiver, '/held', healed)
  // Few at once: those of one owner queue for its row.
  const times = async (count: number, create: () => Promise<unknown>): Promise<void> => {
    for (let left = count; left > 0; left -= 4)
      await Promise.all(Array.from({ length: Math.min(left, 4) }, create))
  }
  await times(30, () => traffic.createImage(receiver.url('/later')))
  await times(10, () => traffic.createVideo(receiver.url('/later')))
  await states.fill()
  say('waits until deliveries are on their second day')
  const areLate = async (): Promise<boolean> => {
    const late = await database.sql`
      select from event where state = 'pending' and failures >= ${DAY_TWO_ATTEMPTS}
    `
    return late.length >= 35
  }
  await waitFor('deliveries on day two', areLate, LONG_MS)
  // Both slots of the owner are held, so the other videos queue; half of the slots for rendering are.
  await times(2, () => traffic.createVideo(receiver.url('/ok'), { images: [held] }))
  await times(40, () => traffic.createVideo(receiver.url('/ok')))
  await times(20, () => traffic.createVideo(receiver.url('/ok'), { off_peak: true }))
  await times(78, () => traffic.createImage(receiver.url('/ok')))
}

/** An address of a picture that comes once everything heals. */
const makeHeld = async (
  receiver: WebhookReceiver,
  path: string,
  healed: Promise<void>,
): Promise<string> => {
  const picture = await makePicture()
  const sendPicture: Reply = ({ response }) => void response.end(picture)
  receiver.script(path, heldUntil(healed, sendPicture))
  return receiver.url(path)
}

/** Takes the other slots for rendering, so that a version waits for its check. */
const holdSlots = async (
  { service: { database }, receiver, traffic, states }: Upgrade,
  healed: Promise<void>,
): Promise<void> => {
  await states.makeImages('helen', 2, { image: await makeHeld(receiver, '/slots', healed) })
  const areTaken = () => receiver.of('/held').length >= 2 && receiver.of('/slots').length >= 2
  await waitFor('all slots are taken', areTaken, LONG_MS)
  await traffic.upload(await traffic.publish())
  await waitFor('a version that waits for its check', async () => {
    const rows = await database.sql`select from version where archive_state = 'received'`
    return rows.length > 0
  })
}

const readStates = async ({ database: { sql } }: Service): Promise<Record<string, string>> => {
  const [found] = await sql<{ table: string | null }[]>`select to_regclass('bulk')::text as table`
  const bulks = sql`
    union all select id, kind || ' ' || state || case
      when state = 'running' and next_index = total then ', all made'
      when state = 'running' and next_index > 0 then ', half-way' else '' end
    from bulk
  `
  const rows = await sql<{ id: string; state: string }[]>`
    select t.id, t.engine || ' ' || t.family || ' ' || case when t.off_peak then 'off-peak ' else '' end || t.status ||
      case when t.ended_at is null and t.owner = 'paula' then ', under a pause'
        when t.ended_at is null and t.upstream_id is not null then ', placed there'
        when t.ended_at is null and t.fence > 0 then ', begun' else '' end || case
      when exists (select from event e where e.task_id = t.id and e.state = 'pending' and e.failures > 0)
      then ', delivering on day two' else '' end as state
    from task t
    union all select id, 'version ' || status || ', archive ' || archive_state from version
    ${found?.table === null ? sql`` : bulks}
  `
  return Object.fromEntries(rows.map(({ id, state }) => [id, state]))
}

const hasSettled = async ({ database: { sql } }: Service): Promise<boolean> => {
  const open = await sql`
    select from task where ended_at is null
    union all select from bulk where ended_at is null
    union all select from version where status = 'NodeVersionStatusPending'
    union all select from event where state = 'pending'
    union all select from outbox where dispatched_at is null
  `
  return open.length === 0
}

const report = async (
  { service, traffic, say }: Upgrade,
  before: Record<string, string>,
): Promise<void> => {
  say('\nphase | requests | failed | slowest')
  for (const [name, { requests, failed, slowestMs }] of traffic.phases) {
    say(`${name} | ${requests} | ${failed.length} | ${slowestMs.toFixed(0)} ms`)
    for (const line of failed.slice(0, 3)) say(`  ${line}`)
  }
  const after = await readStates(service)
  const counts = new Map<string, number>()
  for (const [id, state] of Object.entries(after)) {
    const row = `${before[id] ?? 'made meanwhile'} | ${state}`
    counts.set(row, (counts.get(row) ?? 0) + 1)
  }
  say('\nbefore | after | count')
  for (const line of [...counts].map(([row, count]) => `${row} | ${count}`).toSorted()) say(line)
  say('')
}

const countLosses = async ({ service, receiver, traffic, say }: Upgrade) => {
  const { sql } = service.database
  const failed = [...traffic.phases].flatMap(([name, phase]) => (name === STOP ? [] : phase.failed))
  const ended = await sql`select from task where status not in ('COMPLETED', 'success')`
  const events = await sql<{ id: string; state: string }[]>`
    select id, state from event where deliver and state not in ('superseded', 'unsent')
  `
  const received = new Set(receiver.received.map(({ headers }) => headers['webhook-id']))
  const unsent = events.filter(({ id, state }) => state !== 'delivered' || !received.has(id))
  await assertRows(service)
  const { workflows, steps } = await findFailures(service)
  for (const line of [...workflows, ...steps].slice(0, 10)) say(line)
  return {
    'failed-requests': failed.length,
    'lost-tasks': ended.length,
    'lost-events': unsent.length,
    'failed-workflows': workflows.length,
    'failed-workflow-tasks': steps.length,
  }
}

/** Workflows that have not completed, and workflow tasks that have failed, with their cause. */
const findFailures = async ({ taskQueue }: Service) => {
  const connection = await Connection.connect({ address: temporalAddress() })
  const { workflow } = new Client({ connection })
  const workflows: string[] = []
  const query = `TaskQueue = '${taskQueue}'`
  await waitFor('no workflow is open', async () => {
    const { count } = await workflow.count(`${query} and ExecutionStatus = 'Running'`)
    return count === 0
  }).catch((error: unknown) => workflows.push(String(error)))
  for await (const { workflowId, status } of workflow.list({ query })) {
    // Runs of a release that is upgraded from with a stop were ended, and those of first attempts went on in one that ends.
    const isFine = ['COMPLETED', 'CONTINUED_AS_NEW', 'TERMINATED'].includes(status.name)
    if (!isFine) workflows.push(`${workflowId} ${status.name}`)
  }
  const steps = await listFailedSteps(workflow, query)
  await connection.close()
  return { workflows, steps }
}
