import type { Transaction } from '../../platform/db/client.ts'

/** Most redeliveries that anonymous callers may ask for. */
export interface RedeliveryLimits {
  /** Redeliveries of one event. */
  perEvent: number
  /** Redeliveries to one host within an hour. */
  perHost: number
}

/** Limit that a redelivery is over; a host's limit with the seconds that it still lasts. */
export type OverLimit = { of: 'event' } | { of: 'host'; seconds: number }

/** Counts a redelivery that was just begun; undefined when it is within the limits. The caller rolls back what is not. */
export const countRedelivery = async (
  sql: Transaction,
  { id, host }: { id: string; host: string },
  { perEvent, perHost }: RedeliveryLimits,
): Promise<OverLimit | undefined> => {
  // Two at once would both see the last place free.
  await sql`select pg_advisory_xact_lock(hashtextextended('redelivery ' || ${host}, 0))`
  const [row] = await sql<{ ofEvent: number; seconds: number | null }[]>`
    with counted as (
      update redelivery set receiver_host = ${host} where id = ${id} returning event_id
    )
    select
      (select count(*)::integer from redelivery d where d.event_id = counted.event_id) as "ofEvent",
      (
        select ceil(extract(epoch from d.created_at + interval '1 hour' - now()))::integer
        from redelivery d
        where d.receiver_host = ${host} and d.created_at > now() - interval '1 hour'
        order by d.created_at desc
        -- this one is not among them: the statement sees the rows as they were before
        offset ${perHost - 1} limit 1
      ) as seconds
    from counted
  `
  if (row && row.ofEvent > perEvent) return { of: 'event' }
  return row && row.seconds !== null ? { of: 'host', seconds: row.seconds } : undefined
}
