import { setTimeout as sleep } from 'node:timers/promises'

import { Client as TemporalClient, Connection } from '@temporalio/client'

import type { Sql } from '../src/platform/db/client.ts'
import { withServers, type Keep } from '../test/support/keep.ts'
import { base64 } from '../test/support/pictures.ts'
import { startService, type Service } from '../test/support/service.ts'
import { temporalAddress } from '../test/support/stack.ts'
import { IMAGE_API } from '../test/support/client.ts'
import { bearer, callJson } from './support/call.ts'
import { timeOf } from './support/lanes.ts'
import { spentOn, watchProcessors, type Spent } from './support/processor.ts'
import { say, showResult } from './support/results.ts'
import { DEFAULTS } from './support/settings.ts'

/** Tasks that wait under the pause, and how many of them are let end before the measurement does. */
const TASKS = Number(process.env['TASKS'] ?? 100_000)
const DRAINED = Math.min(TASKS, Number(process.env['DRAINED'] ?? 3000))
const OWNERS = 10
const QUIET_MS = Number(process.env['QUIET_MS'] ?? 60_000)
const SCOPE = 'engine:local'
/** No webhook, no limit of open tasks, and nothing to do but decide. */
const ENV = { ...DEFAULTS, ADMIN_SUBJECTS: 'root' }

/**
 * Measures what many tasks cost while a pause has them wait, and how they go on at its end: in turn by account, in the
 * order of their creation within one, and as fast as tasks that have never waited.
 */
export const run = async (): Promise<void> =>
  await withServers(async (keep, { folder }) => {
    const service = keep(await startService({ env: ENV }))
    const { sql } = service.database
    const read = await watchProcessors(service, `${folder}/temporal`)
    const first = await create(service, 'owner-0')
    await untilEnded(sql, 1)
    const free = await drain(sql, { from: 1, read, begin: () => seed(sql, first, DRAINED) })
    say(`${DRAINED} tasks that wait for nothing: ${free.text}`)
    const idle = await spentOn(read, () => sleep(QUIET_MS))

    await setPause(service, true)
    await seed(sql, first, TASKS)
    const paused = await spentOn(read, () => sleep(QUIET_MS))
    say(`of a core in ${QUIET_MS / 1000} s: idle ${show(idle)}; ${TASKS} paused ${show(paused)}`)
    showResult('pause.open_workflows', await countOpen(keep), { unit: 'runs', atMost: 0 })
    const [resumed] = await sql<{ at: Date }[]>`select clock_timestamp() as at`
    const begin = () => setPause(service, false)
    const resumedPace = await drain(sql, { from: 1 + DRAINED, read, begin })
    say(`${DRAINED} of ${TASKS} after the pause: ${resumedPace.text}`)
    showResult('pause.rate', resumedPace.rate / free.rate, { unit: 'x', atLeast: 0.97 })
    const claims = await listClaims(sql, resumed?.at)
    showResult('pause.first_claim', claims[0]?.afterMs ?? Number.NaN, { unit: 'ms', atMost: 1500 })
    const { spread, late } = measureOrder(claims)
    showResult('pause.turns', spread, { unit: 'tasks between accounts', atMost: 20 })
    showResult('pause.order', late, { unit: 'places late', atMost: 20 })
  })

const show = (spent: Record<string, number>): string =>
  Object.entries(spent)
    .map(([part, ms]) => `${part} ${((ms / QUIET_MS) * 100).toFixed(2)} %`)
    .join(', ')

const create = async (service: Service, owner: string): Promise<string> => {
  const made = await callJson<{ data?: { task_id: string } }>(
    `${service.baseUrl}${IMAGE_API}/image-relight`,
    { headers: await bearer(service, owner), body: { image: await base64() } },
  )
  return made.data?.task_id ?? ''
}

/** Makes tasks of all owners in turn, with the image of the first one. The triggers do what they do; no process is notified. */
const seed = async (sql: Sql, first: string, tasks: number): Promise<void> => {
  for (let from = 0; from < tasks; from += 5000)
    await sql.begin(async (sql) => {
      await sql`set local statement_timeout = 0`
      await sql`
        with made as (
          insert into task (id, family, kind, segment, owner, account, status, settings, stored_bytes, last_sequence)
          select gen_random_uuid(), family, kind, segment, 'owner-' || n % ${OWNERS}, 'owner-' || n % ${OWNERS},
            'CREATED', settings, 0, 1
          from task, generate_series(${from}::integer, ${Math.min(from + 5000, tasks) - 1}::integer) n
          where id = ${first}
          returning id, family, waits_on, admission
        ), input as (
          insert into task_input (task_id, field, name, storage_key, content_type, bytes, sha256, width, height)
          select made.id, field, name, storage_key, content_type, bytes, sha256, width, height
          from made, task_input where task_id = ${first}
        ), event as (
          insert into event (task_id, sequence, status, deliver, state)
          select id, 1, 'CREATED', false, 'unsent' from made
        )
        insert into outbox (kind, workflow_type, workflow_id, task_queue, args, options)
        select 'start', workflow_type, 'image-task/' || made.id, task_queue,
          jsonb_set(args, '{0,taskId}', to_jsonb(made.id)), options
        from made, outbox
        where waits_on is null and workflow_id = 'image-task/' || ${first}
      `
    })
}

const setPause = async ({ baseUrl, ...service }: Service, isPaused: boolean): Promise<void> => {
  const headers = await bearer(service, 'root')
  const method = isPaused ? 'PUT' : 'DELETE'
  const body = isPaused ? { body: { reason: 'measured' } } : {}
  await callJson(`${baseUrl}/admin/pauses/${SCOPE}`, { method, headers, ...body })
}

const countEnded = async (sql: Sql): Promise<number> => {
  const [row] = await sql<{ n: number }[]>`
    select count(*)::integer as n from task where ended_at is not null
  `
  return row?.n ?? 0
}

const untilEnded = async (sql: Sql, least: number): Promise<void> => {
  // The count reads all tasks: five times a second it took PostgreSQL more than the pass that it watches.
  while ((await countEnded(sql)) < least) await sleep(1000)
}

/** Lets so many tasks end; returns how many do in a second, the starts of their workflows included, and what each takes. */
const drain = async (
  sql: Sql,
  { from, read, begin }: { from: number; read: () => Spent; begin(): Promise<unknown> },
): Promise<{ rate: number; text: string }> => {
  let ms = 0
  const spent = await spentOn(read, async () => {
    ms = await timeOf(async () => {
      await begin()
      await untilEnded(sql, from + DRAINED)
    })
  })
  const rate = (DRAINED * 1000) / ms
  const each = Object.entries(spent).map(([part, all]) => `${part} ${(all / DRAINED).toFixed(1)}`)
  return { rate, text: `${rate.toFixed(1)} a second; ms of processor each: ${each.join(', ')}` }
}

/** Counts open workflows of tasks, after Temporal's lists have had time to show them. */
const countOpen = async (keep: Keep): Promise<number> => {
  const connection = await Connection.connect({ address: temporalAddress() })
  keep({ stop: () => connection.close() })
  const { count } = await new TemporalClient({ connection }).workflow.count(
    "ExecutionStatus = 'Running' and WorkflowType = 'imageTask'",
  )
  return count
}

interface Claim {
  owner: string
  /** Place among the tasks of its owner in the order of their creation. */
  place: number
  afterMs: number
}

const listClaims = async (sql: Sql, since: Date | undefined): Promise<Claim[]> =>
  await sql<Claim[]>`
  select owner, place::integer, (extract(epoch from claimed_at - ${since ?? null}) * 1000)::float8 as "afterMs"
  from (
    select owner, claimed_at, row_number() over (partition by owner order by created_at, id) as place
    from task where claimed_at is null or claimed_at >= ${since ?? null}
  ) placed
  where claimed_at is not null
  order by claimed_at
`

/** Measures how far accounts were apart at most, and by how many places a task began late within its account. */
const measureOrder = (claims: readonly Claim[]): { spread: number; late: number } => {
  const taken = new Map<string, number>()
  let [spread, late] = [0, 0]
  for (const { owner, place } of claims) {
    const nth = (taken.get(owner) ?? 0) + 1
    taken.set(owner, nth)
    late = Math.max(late, nth - place)
    const counts = [...taken.values()]
    if (taken.size === OWNERS) spread = Math.max(spread, Math.max(...counts) - Math.min(...counts))
  }
  return { spread, late }
}
