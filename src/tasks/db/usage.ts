import { KEYS, MAX_GROUPS, percentile, USAGE_PLACES, type Usage } from '../domain/usage.ts'
import { VideoTaskKind } from '../domain/video/video-task.ts'
import type { TaskScope } from '../../platform/domain/task-scope.ts'
import { readKeyNames } from '../../identity/db/api-key.ts'
import type { Fragment, Sql } from '../../platform/db/client.ts'

export interface UsageFilter extends TaskScope {
  /** First and last day. */
  from: string
  to: string
  by: string
  /** Name of the label that it groups by, or `KEYS`. */
  key?: string | undefined
  /** The only label whose tasks are counted. */
  label?: { key: string; value: string } | undefined
}

interface UsageRow {
  group: string
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
 * Sums what the tasks of an owner, or of all, have used. The trigger `task_used` (0045, 0095) counts a task at the commit
 * of its end.
 */
export const reportUsage = async (sql: Sql, filter: UsageFilter): Promise<Usage> => {
  const { from, to, by, key } = filter
  const rows = await sumUsage(sql, filter)
  const listed = rows.slice(0, MAX_GROUPS)
  // Of more groups than are listed the few by kind have the same total.
  const all = rows.length > MAX_GROUPS ? await sumUsage(sql, { ...filter, by: 'kind' }) : rows
  const names =
    key === KEYS
      ? await readKeyNames(
          sql,
          listed.map(({ group }) => group),
        )
      : {}
  const groups = listed.map((row) => ({
    group: row.group,
    ...(names[row.group] !== undefined && { name: names[row.group] }),
    ...toSums(row),
  }))
  return {
    from,
    to,
    by: key === undefined || key === KEYS ? by : `label:${key}`,
    groups,
    total: toSums(add(all)),
  }
}

const sumUsage = async (
  sql: Sql,
  { owner, families, from, to, by, key, label }: UsageFilter,
): Promise<UsageRow[]> => {
  const groups: Record<string, Fragment> = {
    day: sql`to_char(day, 'YYYY-MM-DD')`,
    kind: sql`kind`,
    owner: sql`owner`,
    label: sql`value`,
    key: sql`value`,
  }
  return await sql<UsageRow[]>`
    select ${groups[by] ?? sql`kind`} as "group", sum(done)::float8 as done, sum(failed)::float8 as failed,
      sum(cancelled)::float8 as cancelled, sum(credits)::float8 as credits, sum(engine_ms)::float8 as "engineMs",
      sum(pixels)::float8 as pixels, sum(bytes)::float8 as bytes,
      to_json(array[${sumsOf(sql, sql`waited`)}]) as waited, to_json(array[${sumsOf(sql, sql`ran`)}]) as ran
    from usage
    where ${owner === undefined ? sql`true` : sql`owner = ${owner}`}
      ${families ? sql`and (kind = any(${VideoTaskKind.enum})) = ${families.includes('video')}` : sql``}
      and key = ${key ?? label?.key ?? ''}
      ${label ? sql`and value = ${label.value}` : sql``}
      and day between ${from}::date and ${to}::date
    group by 1
    order by ${by === 'day' ? sql`1` : sql`sum(done + failed + cancelled) desc, 1`}
    limit ${MAX_GROUPS + 1}
  `
}

const sumsOf = (sql: Sql, column: Fragment): Fragment =>
  USAGE_PLACES.map((place) => sql`sum(${column}[${place}::integer])`).reduce(
    (all, sum) => sql`${all}, ${sum}`,
  )

const NONE: UsageRow = {
  group: '',
  done: 0,
  failed: 0,
  cancelled: 0,
  credits: 0,
  engineMs: 0,
  pixels: 0,
  bytes: 0,
  waited: [],
  ran: [],
}

const add = (rows: readonly UsageRow[]): UsageRow =>
  rows.reduce(
    (sum, row) => ({
      group: '',
      done: sum.done + row.done,
      failed: sum.failed + row.failed,
      cancelled: sum.cancelled + row.cancelled,
      credits: sum.credits + row.credits,
      engineMs: sum.engineMs + row.engineMs,
      pixels: sum.pixels + row.pixels,
      bytes: sum.bytes + row.bytes,
      waited: addEach(sum.waited, row.waited),
      ran: addEach(sum.ran, row.ran),
    }),
    NONE,
  )

const addEach = (a: UsageRow['waited'], b: UsageRow['waited']): number[] =>
  USAGE_PLACES.map((_, index) => (a[index] ?? 0) + (b[index] ?? 0))

const toSums = (row: UsageRow): Usage['total'] => ({
  tasks: { done: row.done, failed: row.failed, cancelled: row.cancelled },
  credits: row.credits,
  engine_seconds: row.engineMs / 1000,
  pixels: row.pixels,
  stored_bytes: row.bytes,
  waiting: percentilesOf(row.waited),
  running: percentilesOf(row.ran),
})

const percentilesOf = (counts: UsageRow['waited']) => {
  const known = counts.map((count) => count ?? 0)
  return { p50: percentile(known, 0.5), p95: percentile(known, 0.95) }
}
