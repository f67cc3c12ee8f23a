import type { CrashedTask } from '../../tasks/domain/fleet.ts'
import type { Sql, Transaction } from '../../platform/db/client.ts'
import { instant } from '../../platform/db/instant.ts'
import { endPlacement, holdInstance, openThere, REST_SECONDS } from './placement.ts'

interface BrokenPlacement {
  id: string
  task: { id: string; fence: number }
  /** Instances that the task has broken in a row, this one being the last. */
  instances: readonly string[]
  detail: string
}

/**
 * Ends a placement whose instance has reported a device error for it. The instance is the cause, and the end is
 * `broken_device`, where one of another task was the last thing before. The task is the cause, and has `crashed`, where it
 * has broken two instances in a row. One task takes one instance out for good: the second rests, and is taken out at the
 * next one that it reports.
 * @returns the end; undefined when a newer attempt follows the placement, or the task has ended
 */
export const endBroken = async (
  sql: Transaction,
  { id, task, instances, detail }: BrokenPlacement,
): Promise<'broken' | 'broken_device' | 'crashed' | undefined> => {
  const name = instances.at(-1) ?? ''
  // Another task may have broken it whose worker has not read that yet: prompts end in the order of their placements.
  const before = sql`p.at < (select at from placement where id = ${id})`
  const [found] = await sql<{ isBroken: boolean }[]>`
    select exists (
      select from placement p
      where p.task_id = broken_by and p.task_id <> ${task.id} and p.instance = name and ${before}
    ) or exists (
      select from ${openThere(sql, sql`${name}`)} and ${before}
    ) as "isBroken"
    from instance where name = ${name} for update
  `
  const own = instances.length > 1 ? 'crashed' : 'broken'
  const state = found?.isBroken ? 'broken_device' : own
  if (!(await endPlacement(sql, { id, task, state, detail }))) return undefined
  const restSeconds = state === 'crashed' ? REST_SECONDS : null
  await holdInstance(sql, { name, restSeconds, reason: detail })
  await sql`
    update instance set broken_by = case when ${found?.isBroken ?? false} then coalesce(broken_by, ${task.id})
      else ${task.id} end
    where name = ${name}
  `
  if (state === 'crashed')
    await sql`
      select record_platform_event('engine.crashed', id, jsonb_build_object('task_id', id, 'kind', kind,
        'instances', ${[...instances]}::text[], 'error', ${detail}::text))
      from task where id = ${task.id}
    `
  return state
}

/** Lists the tasks of the last day that have broken two instances in a row. */
export const listCrashed = async (sql: Sql): Promise<CrashedTask[]> =>
  await sql<CrashedTask[]>`
  with recent as materialized (
    select * from placement
    where at > now() - interval '1 day'
    order by at desc
    limit 10000
  )
  select t.id, t.kind, p.template, p.detail as error, ${instant(sql, sql`p.at`)} as at,
    array(select o.instance from placement o
      where o.task_id = t.id and o.state in ('broken', 'crashed') order by o.at) as instances
  from recent p join task t on t.id = p.task_id
  where p.state = 'crashed'
  order by p.at desc
  limit 20
`
