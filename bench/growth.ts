import { makeDatabase } from '../src/platform/db/client.ts'
import type { Sql } from '../src/platform/db/client.ts'
import { listStalledDeliveries } from '../src/events/db/delivery.ts'
import { leaseOutbox } from '../src/platform/db/outbox.ts'
import { deleteOldRecords } from '../src/platform/db/purge.ts'
import { listStalledTasks } from '../src/tasks/db/operator.ts'
import { listTasksToPurge } from '../src/tasks/db/purge.ts'
import { IMAGE_API } from '../test/support/client.ts'
import { startWebhookReceiver } from '../test/support/receiver.ts'
import type { WebhookReceiver } from '../test/support/receiver.ts'
import { startService } from '../test/support/service.ts'
import { insertTasks } from '../test/support/task-rows.ts'
import { bearer, callJson } from './support/call.ts'
import { median, say, showRatio } from './support/results.ts'
import { withServers } from '../test/support/keep.ts'
import type { Keep } from '../test/support/keep.ts'
import { inTurns, rateOf } from './support/lanes.ts'
import { DEFAULTS } from './support/settings.ts'
import { relight, startTaskClient } from './support/task-client.ts'
import { makeDeliver } from './support/notified.ts'

/** Ended tasks in the database; three events and an outbox row each, a row of the ledger for every second. */
const LEVELS = (process.env['LEVELS'] ?? '0,100000,1000000').split(',').map(Number)
/** Before every level the database without them is measured again, so that a machine that slows down is not the cause. */
const ROUNDS = 3
const LIST = `${IMAGE_API}/image-relight`
const ALL = {
  afterSeconds: 600,
  ids: { after: '00000000-0000-0000-0000-000000000000' },
  limit: 100,
}

/** Does something again and again; returns how often in a second. */
type Rate = () => Promise<number>

/** Measures the work that must not slow down as ended tasks add up. */
export const run = async (): Promise<void> =>
  await withServers(async (keep) => {
    const receiver = keep(await startWebhookReceiver())
    const empty = await startSide(keep, receiver)
    const full = await startSide(keep, receiver)
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
    const rates = await inTurns(ROUNDS, { empty: ofEmpty, full: ofFull }, 1)
    const [without, beside] = [rates.empty, rates.full].map((each) => median(each).toFixed(1))
    say(`${name.padEnd(12)} ${without?.padStart(10)} ${beside?.padStart(10)}`)
    const result = `growth.${name}.${level}`
    if (level > 0) showRatio(result, [rates.full, rates.empty], { atLeast: 0.9 })
  }
}

const startSide = async (keep: Keep, receiver: WebhookReceiver) => {
  const service = keep(await startService({ env: DEFAULTS }))
  const tasks = keep(await startTaskClient(service))
  // A million rows are written in one statement.
  const options = { pool: 8, name: 'growth', statementTimeoutMs: 0, byIndex: true }
  const sql = makeDatabase({ url: service.database.url, ...options })
  keep({ stop: () => sql.end() })
  const order = await relight()
  const known = await tasks.create(order)
  const headers = await bearer(service, 'bench')
  const get = (path: string) => callJson(service.baseUrl + path, { headers })
  const deliver = makeDeliver(sql)
  const rates: Record<string, Rate> = {
    tasks: () => rateOf(60, 20, () => tasks.runNotified(order, receiver)),
    status: () => rateOf(2000, 8, () => get(`${LIST}/${known}`)),
    list: () => rateOf(1000, 8, () => get(LIST)),
    delivery: () => rateOf(600, 40, () => deliver(receiver)),
    relay: () => rateOf(300, 1, () => leaseOutbox(sql)),
    reconcile: () =>
      rateOf(1500, 1, async () => {
        await listStalledTasks(sql, ALL)
        await listStalledDeliveries(sql, ALL)
      }),
    purge: () =>
      rateOf(500, 1, async () => {
        await listTasksToPurge(sql, 30)
        await deleteOldRecords(sql)
      }),
  }
  return { sql, rates }
}

/** Adds ended tasks, a tenth of them those of the caller, half of them videos, as they are after a year. */
const fill = async (sql: Sql, from: number, to: number): Promise<void> => {
  if (to === from) return
  const start = Date.now()
  const rows = sql`generate_series(${from + 1}::integer, ${to}::integer) n`
  const id = sql`md5('growth ' || n)::uuid`
  const at = sql`now() - interval '1 day' - n * interval '30 seconds'`
  const columns = {
    id,
    owner: sql`case when n % 10 = 0 then 'bench' else 'owner-' || n % 5000 end`,
    created_at: at,
    // None is due for removal while the bench runs.
    purged_at: sql`case when ${at} < now() - interval '29 days' then ${at} end`,
  }
  const events = {
    state: sql`case e->>'state' when 'pending' then 'delivered' else e->>'state' end`,
  }
  for (const [place, kind] of (['text2video', 'relight'] as const).entries()) {
    const numbers = { first: from + 1 + place, step: 2, count: (to - from) / 2 }
    const task = { kind, state: 'done', webhookUrl: 'https://receiver.example.com/' } as const
    await insertTasks(sql, { ...task, credits: 100, files: [], ...numbers, columns, events })
  }
  // Those older than a week are gone.
  await sql`
    insert into outbox (kind, workflow_type, workflow_id, task_queue, created_at, dispatched_at)
    select 'start', 'imageTask', 'image-task/' || ${id}, 'kiln', ${at}, ${at}
    from ${rows} where ${at} > now() - interval '7 days'
  `
  await sql`vacuum analyze`
  say(`${to} tasks are there, after ${Math.round((Date.now() - start) / 1000)} s`)
}
