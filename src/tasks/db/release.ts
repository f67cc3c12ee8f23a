import type { Fragment, Queryable, Sql } from '../../platform/db/client.ts'
import type { TaskFamily } from '../../platform/domain/task-scope.ts'
import type { EngineName } from '../domain/engine.ts'
import { NO_INSTANCE } from '../domain/waits-for.ts'

/**
 * Lets tasks go on that wait for a template: for its file, or for others of it to end. False: there are none.
 * @param room most tasks of a file or template that may go on now; of one that is absent all may
 * @param only template whose tasks are meant
 */
export const releaseTemplates = async (
  sql: Sql,
  room: Readonly<Record<string, number>>,
  only?: string,
): Promise<boolean> => {
  const { count } = await sql`
    with waiting as (
      select id, (${sql.json(room)}::jsonb->>substr(waits_on, 10))::integer as most,
        row_number() over (partition by waits_on order by priority desc, created_at, id) as place
      from task
      where family in ('image', 'video') and engine = 'comfyui' and ended_at is null
        and waits_on >= 'template:' and waits_on < 'template;' and not starts_with(waits_on, ${NO_INSTANCE})
        and (${only ?? null}::text is null or waits_on = 'template:' || ${only ?? null}::text)
    )
    update task set waits_on = 'turn'
    from waiting
    where task.id = waiting.id and coalesce(place <= most, true) and task.waits_on like 'template:%'
  `
  return count > 0
}

/** Lists the words on which tasks of an engine wait for an instance that can take them. */
export const listAwaited = async (sql: Sql, engine: EngineName): Promise<string[]> => {
  const rows = await sql<{ word: string }[]>`
    select distinct waits_on as word from task
    where family in ('image', 'video') and engine = ${engine} and ended_at is null
      and waits_on >= 'template:' and waits_on < 'template;' and starts_with(waits_on, ${NO_INSTANCE})
  `
  return rows.map(({ word }) => word)
}

/** Lets tasks of an engine go on that wait on one of these words. False: there are none. */
export const releaseAway = async (sql: Sql, engine: EngineName, word: string): Promise<boolean> => {
  const { count } = await sql`
    update task set waits_on = 'turn'
    where family in ('image', 'video') and engine = ${engine} and ended_at is null
      and waits_on = ${word}
  `
  return count > 0
}

/** Has tasks wait for their turn whose time to start has come. Returns milliseconds until the next one's; null without any. */
export const releaseLater = async (sql: Sql): Promise<number | null> => {
  const [row] = await sql<{ nextMs: number | null }[]>`
    with due as (
      update task set waits_on = case family when 'video' then 'slot' else 'turn' end, rev = rev + 1
      where id in (
        select id from task
        where waits_on = 'later' and ended_at is null and start_after <= clock_timestamp()
        order by start_after
        limit 1000
        for update skip locked
      )
    )
    select (extract(epoch from min(start_after) - clock_timestamp()) * 1000)::float8 as "nextMs"
    from task where waits_on = 'later' and ended_at is null and start_after > now()
  `
  return row?.nextMs ?? null
}

/** A task that has passed a deadline, and the code with which it ends. */
export interface OverdueTask {
  id: string
  family: TaskFamily
  code: 'start_timeout' | 'deadline_exceeded' | 'SystemThrottling'
}

const DEADLINE = (sql: Queryable): Fragment =>
  sql`least(case when claimed_at is null then start_by end, end_by, off_peak_by)`

/** Lists tasks that have passed a deadline, and finds in how many milliseconds the next one passes. */
export const listOverdueTasks = async (
  sql: Sql,
): Promise<{ tasks: OverdueTask[]; nextMs: number | null }> => {
  const [row] = await sql<{ tasks: OverdueTask[]; nextMs: number | null }[]>`
    with ranked as (
      select id, family, ${DEADLINE(sql)} as by, case
        when claimed_at is null and start_by <= clock_timestamp() then 'start_timeout'
        when end_by <= clock_timestamp() then 'deadline_exceeded'
        else 'SystemThrottling' end as code
      from task
      where ended_at is null and coalesce(start_by, end_by, off_peak_by) is not null
      order by ${DEADLINE(sql)}
      limit 100
    )
    select coalesce(json_agg(json_build_object('id', id, 'family', family, 'code', code) order by by)
        filter (where by <= clock_timestamp()), '[]') as tasks,
      (extract(epoch from min(by) filter (where by > clock_timestamp()) - clock_timestamp()) * 1000)::float8
        as "nextMs"
    from ranked
  `
  return row ?? { tasks: [], nextMs: null }
}
