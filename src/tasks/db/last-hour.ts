import type { Queryable } from '../../platform/db/client.ts'
import { toRate, MAX_COUNTED, type LastHour } from '../domain/last-hour.ts'

interface EndedRow {
  kind: string
  ended: number
  failed: number
  /** Since the first of them ended. */
  seconds: number
  waited: [p50: number, p95: number] | null
  ran: [p50: number, p95: number] | null
}

/** Counts the tasks of all owners that ended within the last hour, of many the newest, by kind. Those whose files were removed meanwhile do not count. */
export const readEndedTasks = async (sql: Queryable): Promise<LastHour['tasks']> => {
  const rows = await sql<EndedRow[]>`
    with newest as (
      select kind, status, error_code, waits_on, ended_at, claimed_at, greatest(created_at, start_after) as ready_at
      from task
      where ended_at is not null and purged_at is null and ended_at > now() - interval '1 hour'
      order by ended_at desc
      limit ${MAX_COUNTED}
    )
    select kind, count(*)::integer as ended,
      (count(*) filter (where current_state(status, error_code, waits_on) = 'failed'))::integer as failed,
      extract(epoch from now() - min(ended_at))::float8 as seconds,
      to_json(percentile_cont(array[0.5, 0.95]) within group (
        order by greatest(0, extract(epoch from coalesce(claimed_at, ended_at) - ready_at))::float8)) as waited,
      to_json(percentile_cont(array[0.5, 0.95]) within group (
        order by extract(epoch from ended_at - claimed_at)::float8)) as ran
    from newest
    group by kind
    order by ended desc, kind
  `
  const count = rows.reduce((sum, { ended }) => sum + ended, 0)
  const seconds = Math.max(0, ...rows.map((row) => row.seconds))
  return rows.map(({ kind, ended, failed, waited, ran }) => ({
    kind,
    ended,
    failed,
    per_minute: toRate(ended, { seconds, isAll: count < MAX_COUNTED }),
    waiting: toPercentiles(waited),
    running: toPercentiles(ran),
  }))
}

const toPercentiles = (found: [p50: number, p95: number] | null) => ({
  p50: found?.[0] ?? null,
  p95: found?.[1] ?? null,
})
