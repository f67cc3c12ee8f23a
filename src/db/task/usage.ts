import { MOST_GROUPS, percentile, USAGE_PLACES, type Usage } from '../../domain/task/usage.ts'
import type { Fragment, Sql } from '../client.ts'

export interface UsageFilter {
  /** Absent: all. */
  owner?: string | undefined
  /** First and last day. */
  from: string
  to: string
  by: string
  /** Name of the label that it groups by. */
  key?: string | undefined
  /** The only label of which tasks are counted. */
  label?: { key: string; value: string } | undefined
}

interface UsageRow {
  group: string | null
  done: number
  failed: number
  cancelled: number
  credits: number
  engineMs: number
  pixels: number
  bytes: number
  waited: (number | null)[]
  ran: (number | null)[]
}

/**
 * Sums what the tasks of an owner, or of all, have used. The trigger `task_used` (0045) counts a task at the commit of
 * its end.
 */
export const reportUsage = async (
  sql: Sql,
  { owner, from, to, by, key, label }: UsageFilter,
): Promise<Usage> => {
  const groups: Record<string, Fragment> = {
    day: sql`to_char(day, 'YYYY-MM-DD')`,
    kind: sql`kind`,
    owner: sql`owner`,
    label: sql`value`,
  }
  const group = groups[by] ?? sql`kind`
  const rows = await sql<UsageRow[]>`
    select "group", sum(done)::float8 as done, sum(failed)::float8 as failed, sum(cancelled)::float8 as cancelled,
      sum(credits)::float8 as credits, sum(engine_ms)::float8 as "engineMs", sum(pixels)::float8 as pixels,
      sum(bytes)::float8 as bytes, to_json(array[${sumsOf(sql, sql`waited`)}]) as waited,
      to_json(array[${sumsOf(sql, sql`ran`)}]) as ran
    from (
      select *, ${group} as "group" from usage
      where ${owner === undefined ? sql`true` : sql`owner = ${owner}`}
        and key = ${key ?? label?.key ?? ''}
        ${label ? sql`and value = ${label.value}` : sql``}
        and day between ${from}::date and ${to}::date
    ) used
    group by grouping sets (("group"), ())
    order by grouping("group") desc, ${by === 'day' ? sql`"group"` : sql`sum(done + failed + cancelled) desc, "group"`}
    limit ${MOST_GROUPS + 1}
  `
  const [total, ...listed] = rows.map(toSums)
  if (!total) throw new Error('a report without a total')
  const named = listed.map((sums, index) => ({
    group: rows[index + 1]?.group ?? '',
    ...sums,
  }))
  return { from, to, by: key === undefined ? by : `label:${key}`, groups: named, total }
}

const sumsOf = (sql: Sql, column: Fragment): Fragment =>
  USAGE_PLACES.map((place) => sql`sum(${column}[${place}::integer])`).reduce(
    (all, sum) => sql`${all}, ${sum}`,
  )

const toSums = (row: UsageRow): Usage['total'] => ({
  tasks: { done: row.done ?? 0, failed: row.failed ?? 0, cancelled: row.cancelled ?? 0 },
  credits: row.credits ?? 0,
  engine_seconds: (row.engineMs ?? 0) / 1000,
  pixels: row.pixels ?? 0,
  stored_bytes: row.bytes ?? 0,
  waiting: percentilesOf(row.waited),
  running: percentilesOf(row.ran),
})

const percentilesOf = (counts: readonly (number | null)[]) => {
  const known = counts.map((count) => count ?? 0)
  return { p50: percentile(known, 0.5), p95: percentile(known, 0.95) }
}
