import { PLATFORM_NOTICES, type PlatformCondition } from '../domain/endpoint.ts'
import { PLATFORM_ACCOUNT } from '../../platform/domain/account.ts'
import type { Sql, Transaction } from '../../platform/db/client.ts'
import { isPaused } from '../../tasks/db/pause.ts'

/** Writes an event for the endpoints of the platform that want it. */
const notifyPlatform = async (
  sql: Transaction,
  { type, subject, data }: { type: string; subject: string; data: object },
): Promise<void> => {
  await sql`select record_platform_event(${type}, named_subject(${subject}), ${sql.json(data as never)})`
}

/**
 * Notifies of a condition when it begins, or when the first endpoint wants to know: of many processes one does. Once it has
 * ended, it can begin again.
 */
export const recordCondition = async (
  sql: Transaction,
  name: PlatformCondition,
  data: object | undefined,
): Promise<void> => {
  if (!data) {
    await sql`delete from notified_condition where name = ${name}`
    return
  }
  const type = PLATFORM_NOTICES[name]
  const { count } = await sql`
    insert into notified_condition (name)
    select ${name}
    where exists (
      select from endpoint p
      where p.owner = ${PLATFORM_ACCOUNT} and p.status = 'enabled' and ${type} = any(p.events)
    )
    on conflict (name) do nothing
  `
  if (count > 0) await notifyPlatform(sql, { type, subject: name, data })
}

/** Rows that are looked at: more wait in a queue that is old. */
const LOOKED_AT = 1000

/** Finds how many seconds the oldest admitted task has waited to begin. Paused tasks do not count. */
export const findOldestWaiting = async (sql: Sql): Promise<number> => {
  const [row] = await sql<{ seconds: number }[]>`
    select coalesce(extract(epoch from now() - min(last_moved_at)), 0)::float8 as seconds
    from (
      select * from task where ended_at is null order by last_moved_at limit ${LOOKED_AT}
    ) t
    where claimed_at is null and waits_on is null and not ${isPaused(sql, sql`t`)}
  `
  return row?.seconds ?? 0
}

export interface FailedWorkflow {
  workflowId: string
  runId: string
  type: string
  closedAt: Date
}

/** Finds until when workflows were read; the first time it is now. */
export const findWorkflowsRead = async (sql: Sql): Promise<Date> => {
  await sql`
    insert into notified_condition (name) values (${WORKFLOWS}) on conflict (name) do nothing
  `
  const [row] = await sql<{ at: Date }[]>`
    select date_trunc('milliseconds', at) as at from notified_condition where name = ${WORKFLOWS}
  `
  if (!row) throw new Error('a row that was just made is gone')
  return row.at
}

const WORKFLOWS = 'workflows'

/** Notifies of workflows that have failed, in the order of their ends, once: another process may have read them meanwhile. */
export const recordFailedWorkflows = async (
  sql: Transaction,
  since: Date,
  failed: readonly FailedWorkflow[],
): Promise<void> => {
  const last = failed.at(-1)
  if (!last) return
  const { count } = await sql`
    update notified_condition set at = ${last.closedAt}
    where name = ${WORKFLOWS} and date_trunc('milliseconds', at) = ${since}
  `
  if (count === 0) return
  for (const { workflowId, runId, type } of failed)
    await notifyPlatform(sql, {
      type: 'workflow.failed',
      subject: runId,
      data: { workflow_id: workflowId, run_id: runId, workflow_type: type },
    })
}
