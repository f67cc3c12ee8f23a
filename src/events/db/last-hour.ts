import type { Queryable } from '../../platform/db/client.ts'
import { MAX_COUNTED, toRate, type LastHour } from '../../tasks/domain/last-hour.ts'

interface SentRow {
  attempts: number
  failed: number
  /** Since the first of them began; null without any. */
  seconds: number | null
  took: [p50: number, p95: number] | null
}

/** Counts the attempts at deliveries of the last hour, of many the newest. */
export const readSentEvents = async (sql: Queryable): Promise<LastHour['deliveries']> => {
  const [row] = await sql<SentRow[]>`
    with newest as (
      select started_at, duration_ms, error_class from attempt
      where started_at > now() - interval '1 hour'
      order by started_at desc
      limit ${MAX_COUNTED}
    )
    select count(*)::integer as attempts,
      (count(*) filter (where error_class is not null))::integer as failed,
      extract(epoch from now() - min(started_at))::float8 as seconds,
      to_json(percentile_cont(array[0.5, 0.95]) within group (order by duration_ms / 1000.0::float8)) as took
    from newest
  `
  const { attempts = 0, failed = 0, seconds, took } = row ?? {}
  return {
    attempts,
    failed,
    per_minute: toRate(attempts, { seconds: seconds ?? 0, isAll: attempts < MAX_COUNTED }),
    seconds: { p50: took?.[0] ?? null, p95: took?.[1] ?? null },
  }
}
