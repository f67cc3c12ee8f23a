import type { Fragment, Queryable, Transaction } from '../../platform/db/client.ts'
import { isHostPaused } from '../../tasks/db/pause.ts'

/** Schedules of events that failed: their own, and redeliveries. */
const SCHEDULES = ['event', 'redelivery'] as const
export type Schedule = (typeof SCHEDULES)[number]

/** An attempt that is due within so many seconds comes by itself. */
const SOON_SECONDS = 10

/**
 * Least seconds between two attempts at an event that are made because its host works again. Each time it is twice as
 * long, up to 64 times: an event that a host rejects while it takes others would be sent to it 900 times.
 */
const PAUSE_SECONDS = 300
const MAX_DOUBLINGS = 6

/** Events of a host that become due at once; the next ones do so a second later. */
const AT_ONCE = 25
const PACE_SECONDS = 1
/** Hosts of one pass. */
const HOSTS = 20

/** The condition that `d`, an event or a redelivery, waits for a step of its schedule. */
export const isInWait = (sql: Queryable): Fragment => sql`
  d.state = 'pending' and d.scheduled_at is null
    and d.next_attempt_at > now() + make_interval(secs => ${SOON_SECONDS})
`

/** The same of one that waits for `h.host` and may be sent to it now. */
const isWaitingFor = (sql: Queryable): Fragment => sql`
  d.failed_host = h.host and d.hasten_after <= now() and ${isInWait(sql)}
`

const hasWaiting = (sql: Queryable): Fragment => sql`
  (exists (select from event d where ${isWaitingFor(sql)})
    or exists (select from redelivery d where ${isWaitingFor(sql)}))
`

/** Records that the hosts of these URLs took something, where others wait for them: `hastenWaiting` sends those. */
export const recordRecovery = async (sql: Transaction, urls: readonly string[]): Promise<void> => {
  await sql`
    insert into recovered_host (host)
    select h.host
    -- the list in a select: of one that it sees PostgreSQL makes a plan each time
    from (select distinct host_of(url) as host from unnest((select ${[...urls]}::text[])) as given (url)) h
    where ${hasWaiting(sql)}
    -- in one order, so that two commits never wait for each other
    order by h.host
    on conflict (host) do nothing
  `
}

/** Records that the host of a URL failed at a hastened event: the others go on waiting, until something arrives once more. */
export const endRecovery = async (sql: Transaction, url: string): Promise<void> => {
  await sql`delete from recovered_host where host = host_of(${url})`
}

/**
 * Makes events due at once that wait for hosts that work again, some of each host, and makes their deliveries read the
 * rows. The others follow a pass later; of a host that is paused, when the pause has ended. It waits for nobody.
 */
export const hastenWaiting = async (sql: Transaction): Promise<void> => {
  const found = await sql<{ host: string }[]>`
    update recovered_host set due_at = clock_timestamp() + make_interval(secs => ${PACE_SECONDS})
    where host = any(array(
      select host from recovered_host
      where due_at <= now() and not ${isHostPaused(sql, sql`host`)}
      order by due_at
      limit ${HOSTS}
      for update skip locked
    ))
    returning host
  `
  if (found.length === 0) return
  const hosts = found.map(({ host }) => host)
  for (const schedule of SCHEDULES)
    await hasten(sql, schedule, {
      waiting: sql`
        select d.id from unnest(${hosts}::text[]) as h (host)
        cross join lateral (
          select d.id from ${sql(schedule)} d
          where ${isWaitingFor(sql)}
          order by d.hasten_after
          limit ${AT_ONCE}
          for update skip locked
        ) d
      `,
    })
  await sql`delete from recovered_host h where host = any(${hosts}::text[]) and not ${hasWaiting(sql)}`
}

/**
 * Makes attempts due at once; returns how many. They take no step of the schedule, which goes on as it was.
 * @param waiting selects the ids of events or redeliveries, locked
 */
export const hasten = async (
  sql: Transaction,
  schedule: Schedule,
  { waiting }: { waiting: Fragment },
): Promise<number> => {
  const workflow =
    schedule === 'event' ? sql`'deliver-events/' || task_id` : sql`'redeliver-event/' || id`
  const signals = await sql`
    with hastened as (
      update ${sql(schedule)} set
        scheduled_at = next_attempt_at,
        next_attempt_at = clock_timestamp(),
        hasten_after = greatest(hasten_after, clock_timestamp()
          + make_interval(secs => ${PAUSE_SECONDS} * 2 ^ least(hastened, ${MAX_DOUBLINGS}))),
        hastened = hastened + 1
      where id in (${waiting})
      returning ${workflow} as workflow_id
    )
    -- Signal eventRecorded of workflows/events/deliver-events.ts.
    select send_signal(workflow_id, 'eventRecorded') from hastened
  `
  return signals.count
}
