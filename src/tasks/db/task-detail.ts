import type { TaskDetail } from '../domain/task-item.ts'
import type { WarningFacts } from '../domain/image/warnings.ts'
import type { TaskOptions } from '../domain/task-options.ts'
import type { Sql } from '../../platform/db/client.ts'
import { instant } from '../../platform/db/instant.ts'
import { mayRead } from './filter.ts'
import { optionsOf } from './options.ts'
import { warningFacts } from './task-file.ts'
import { taskColumns, type TaskRow } from './task-list.ts'

/** All that is kept of a task. */
export interface TaskDetailRow extends TaskRow {
  settings: Record<string, unknown>
  warnings: WarningFacts | null
  options: TaskOptions
  webhookUrl: string | null
  purgeAt: Date | null
  purgedAt: Date | null
  placedAt: Date | null
  /** Null of other engines. */
  log: string | null
  template: NonNullable<TaskDetail['template']> | null
  /** Its place in the queue of its account; null while it does not wait, and beyond ten thousand. */
  queuePosition: number | null
  inputs: (Omit<TaskDetail['inputs'][number], 'url' | 'stored_url'> & {
    name?: string
    url?: string
    /** Its address is a link of this service. */
    isOwnLink?: true
  })[]
  results: Omit<TaskDetail['results'][number], 'url'>[]
  moves: TaskDetail['moves']
  /** Error of its engine, where the caller may read it. */
  engineError: string | null
  attempts: { n: number; at: string; failed_at?: string; error?: string }[]
}

/** A place that is not counted any more. */
const FAR = 10_001

/** A task that the caller may read; an admin may read every one. Undefined when there is no such task. */
export const findTaskDetail = async (
  sql: Sql,
  { id, owner, isAdmin }: { id: string; owner: string; isAdmin: boolean },
): Promise<TaskDetailRow | undefined> => {
  const [row] = await sql<TaskDetailRow[]>`
    select ${taskColumns(sql)}, jsonb_strip_nulls(t.settings) as settings,
      ${optionsOf(sql)} as options,
      t.webhook_url as "webhookUrl", t.purge_at as "purgeAt", t.purged_at as "purgedAt",
      (select max(p.at) from placement p where p.task_id = t.id) as "placedAt",
      case when t.delete_requested_at is null then (
        select case when t.engine_error_shown or ${isAdmin} then p.logs
            else regexp_replace(p.logs, 'Traceback \\(most recent call last\\).*', '') end
        from placement p where p.task_id = t.id order by p.at desc limit 1
      ) end as log,
      (select jsonb_build_object('name', v.name, 'version', v.digest,
          'first_seen_at', ${instant(sql, sql`v.first_seen_at`)})
        from template_version v where v.id = t.template_version_id) as template,
      case when t.waits_on <> 'later' then (
        select nullif(count(*) + 1, ${FAR})::integer from (
          select from task o
          where o.account = t.account and o.ended_at is null and o.waits_on <> 'later'
            and o.waits_on is not null
            and o.family = t.family and o.engine = t.engine
            and (o.off_peak, -o.priority, o.created_at, o.id) < (t.off_peak, -t.priority, t.created_at, t.id)
          limit ${FAR - 1}
        ) ahead
      ) end as "queuePosition",
      case when t.engine_error_shown or ${isAdmin} then t.engine_error end as "engineError",
      t.attempts, ${warningFacts(sql)} as warnings,
      (select coalesce(jsonb_agg(jsonb_strip_nulls(to_jsonb(i))), '[]') from (
        select field, case when t.delete_requested_at is null then name end as name, url,
          -- what was fetched from elsewhere is not kept beyond the end
          case when storage_key not like 'inputs/' || t.id || '/%' and t.purged_at is null
            and t.delete_requested_at is null then true end as "isOwnLink",
          content_type, bytes, width, height from task_input
        where task_id = t.id order by split_part(field, '.', 1), length(field), field
      ) i) as inputs,
      (select coalesce(jsonb_agg(jsonb_strip_nulls(to_jsonb(r))), '[]') from (
        select name, content_type, bytes, width, height from task_result
        where task_id = t.id and t.delete_requested_at is null order by position
      ) r) as results,
      (select jsonb_agg(jsonb_build_object('event_id', e.id, 'sequence', e.sequence,
          'status', e.status, 'at', ${instant(sql, sql`e.created_at`)}, 'state', task_state(e.status,
            case when e.sequence = t.last_sequence then t.error_code end)) order by e.sequence)
        from event e where e.task_id = t.id) as moves
    from task t
    where t.id = ${id} and (${mayRead(sql, owner)} or ${isAdmin})
  `
  return row
}
