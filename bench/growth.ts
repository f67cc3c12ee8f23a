import { randomUUID } from 'node:crypto'

import { makeDatabase } from '../src/db/client.ts'
import type { Sql } from '../src/db/client.ts'
import { listStillDeliveries } from '../src/db/event/delivery.ts'
import { leaseOutbox } from '../src/db/shared/outbox.ts'
import { deleteOldRecords, listTasksToPurge } from '../src/db/shared/purge.ts'
import { listStillTasks } from '../src/db/task/reconcile.ts'
import { unitOfWork } from '../src/db/unit-of-work.ts'
import { enterQueue } from '../src/db/video-task/video-queue.ts'
import { IMAGE_API } from '../test/support/client.ts'
import { base64 } from '../test/support/pictures.ts'
import { answer, startWebhookReceiver } from '../test/support/receiver.ts'
import type { WebhookReceiver } from '../test/support/receiver.ts'
import { startService } from '../test/support/service.ts'
import type { Service } from '../test/support/service.ts'
import { say, showFigure, spread } from './support/figures.ts'
import { rateOf } from './support/lanes.ts'
import { insertToldTask } from './support/told-task.ts'
import { withServers } from './support/with-servers.ts'

/** Ended tasks in the database; three events and an outbox row each, a row of the ledger for every second. */
const LEVELS = (process.env['LEVELS'] ?? '0,100000,1000000').split(',').map(Number)
/** Before every level the database without them is measured again, so that a machine that slows down is not the cause. */
const ROUNDS = 3
const CREATE = `${IMAGE_API}/image-relight`
const ALL = { afterSeconds: 600, after: '00000000-0000-0000-0000-000000000000', limit: 100 }

/** Something done again and again; answers how often in a second. */
type Rate = () => Promise<number>

/** What everybody does whose work must not slow down as ended tasks add up. */
export const run = async (): Promise<void> =>
  await withServers(async (keep) => {
    const receiver = keep(await startWebhookReceiver())
    const empty = keep(await startSide(receiver))
    const full = keep(await startSide(receiver))
    let tasks = 0
    for (const level of LEVELS) {
      await fill(full.sql, tasks, level)
      tasks = level
      await compare(level, empty.rates, full.rates)
    }
  })

const compare = async (
  level: number,
  empty: Record<string, Rate>,
  full: Record<string, Rate>,
): Promise<void> => {
  say(`\n${level} ended tasks, in turns with none (median of ${ROUNDS}, a second)`)
  for (const [name, ofFull] of Object.entries(full)) {
    const ofEmpty = empty[name] ?? ofFull
    const rates: Record<'empty' | 'full', number[]> = { empty: [], full: [] }
    await ofEmpty()
    await ofFull()
    for (let round = 0; round < ROUNDS; round += 1) {
      rates.empty.push(await ofEmpty())
      rates.full.push(await ofFull())
    }
    const [without, beside] = [spread(rates.empty).median, spread(rates.full).median]
    say(`${name.padEnd(12)} ${without.toFixed(1).padStart(10)} ${beside.toFixed(1).padStart(10)}`)
    const figure = { unit: 'x', aim: 0.9, atMost: false }
    if (level > 0) showFigure(`growth.${name}.${level}`, beside / without, figure)
  }
}

const startSide = async (receiver: WebhookReceiver) => {
  const service = await startService({ env: { HEARTBEAT_SECONDS: '10' } })
  const sql = makeDatabase({
    url: service.database.url,
    pool: 8,
    name: 'growth',
    // A million rows are written in one statement.
    statementTimeoutMs: 0,
  })
  return {
    sql,
    rates: await makeRates(service, sql, receiver),
    stop: async () => {
      await sql.end()
      await service.stop()
    },
  }
}

const makeRates = async (
  service: Service,
  sql: Sql,
  receiver: WebhookReceiver,
): Promise<Record<string, Rate>> => {
  const image = await base64()
  const headers = {
    authorization: `Bearer ${await service.token('bench')}`,
    'content-type': 'application/json',
  }
  const create = async (request: object): Promise<string> => {
    const body = JSON.stringify({ image, ...request })
    const answered = await fetch(service.baseUrl + CREATE, { method: 'POST', headers, body })
    return ((await answered.json()) as { data: { task_id: string } }).data.task_id
  }
  /** A new path of the receiver, and when it has heard of so many events. */
  const listen = (events: number): { url: string; told: Promise<void> } => {
    const path = `/${randomUUID()}`
    const told = new Promise<void>((resolve) =>
      receiver.script(path, (turn) => {
        answer(204)(turn)
        if (turn.earlier === events - 1) resolve()
      }),
    )
    return { url: receiver.url(path), told }
  }
  const get = async (path: string): Promise<void> => {
    const answered = await fetch(service.baseUrl + path, { headers })
    if (!answered.ok) throw new Error(`GET ${path} answered ${answered.status}`)
    await answered.arrayBuffer()
  }
  const known = await create({})
  return {
    tasks: () =>
      rateOf(60, 20, async () => {
        const { url, told } = listen(2)
        await create({ webhook_url: url })
        await told
      }),
    status: () => rateOf(2000, 8, () => get(`${CREATE}/${known}`)),
    list: () => rateOf(1000, 8, () => get(CREATE)),
    delivery: () =>
      rateOf(600, 40, async () => {
        const { url, told } = listen(1)
        await insertToldTask(sql, url)
        await told
      }),
    relay: () => rateOf(300, 1, () => leaseOutbox(sql)),
    reconcile: () =>
      rateOf(300, 1, async () => {
        await listStillTasks(sql, ALL)
        await listStillDeliveries(sql, ALL)
      }),
    purge: () =>
      rateOf(100, 1, async () => {
        await listTasksToPurge(sql, 30)
        await deleteOldRecords(sql)
      }),
    admission: () => rateOf(200, 1, () => admitOne(sql)),
  }
}

/** A video task enters its owner's queue, is admitted, and is gone again. */
const admitOne = async (sql: Sql): Promise<void> => {
  const id = randomUUID()
  await sql`insert into owner (id) values ('bench') on conflict do nothing`
  await sql`
    insert into task (id, family, kind, segment, owner, account, status, settings)
    values (${id}, 'video', 'text2video', 'text2video', 'bench', 'bench', 'created', '{}')
  `
  const tell = (): Promise<void> => Promise.resolve()
  const options = { slots: 5, offPeakSeconds: 1, tell }
  const entered = await unitOfWork({ sql }, (sql) => enterQueue(sql, id, options))
  if (!entered?.isAdmitted) throw new Error('a video task was not admitted')
  await sql`
    update task set status = 'success', ended_at = clock_timestamp() where id = ${id}
  `
}

/** Adds ended tasks, a tenth of them those of the caller, half of them videos, as they are after a year. */
const fill = async (sql: Sql, from: number, to: number): Promise<void> => {
  if (to === from) return
  const start = Date.now()
  const rows = sql`generate_series(${from + 1}::integer, ${to}::integer) n`
  const id = sql`md5('growth ' || n)::uuid`
  const at = sql`now() - interval '1 day' - n * interval '30 seconds'`
  const owner = sql`case when n % 10 = 0 then 'bench' else 'owner-' || n % 5000 end`
  await sql.begin(async (sql) => {
    // Triggers and foreign keys were true when these rows were young. None is due for removal while the bench runs.
    await sql`set local session_replication_role = replica`
    await sql`
      insert into task (id, family, kind, segment, owner, account, status, settings, webhook_url,
        last_sequence, created_at, last_moved_at, ended_at, purged_at, credits)
      select ${id}, case n % 2 when 0 then 'image' else 'video' end,
        case n % 2 when 0 then 'relight' else 'text2video' end,
        case n % 2 when 0 then 'image-relight' else 'text2video' end, ${owner}, ${owner},
        case n % 2 when 0 then 'COMPLETED' else 'success' end, '{}', 'https://receiver.example.com/',
        3, ${at}, ${at}, ${at}, case when ${at} < now() - interval '29 days' then ${at} end, n % 2 * 100
      from ${rows}
    `
    await sql`
      insert into event (task_id, sequence, status, deliver, created_at, state)
      select ${id}, sequence, 'COMPLETED', true, ${at}, 'delivered'
      from ${rows}, generate_series(1, 3) sequence
    `
    await sql`
      insert into ledger (task_id, kind, owner, credits, created_at)
      select ${id}, 'charge', ${owner}, 100, ${at} from ${rows} where n % 2 = 1
    `
    // Those older than a week are gone.
    await sql`
      insert into outbox (kind, workflow_type, workflow_id, task_queue, created_at, dispatched_at)
      select 'start', 'imageTask', 'image-task/' || ${id}, 'kiln', ${at}, ${at}
      from ${rows} where ${at} > now() - interval '7 days'
    `
  })
  await sql`vacuum analyze`
  say(`${to} tasks are there, after ${Math.round((Date.now() - start) / 1000)} s`)
}
