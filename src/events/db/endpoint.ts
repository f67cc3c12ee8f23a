import { PLATFORM_ACCOUNT } from '../../platform/domain/account.ts'
import { TEST_EVENT, endpointSecretOwner } from '../domain/endpoint.ts'
import type {
  Endpoint,
  EndpointEvent,
  EndpointEventQuery,
  EndpointFormat,
  EndpointUpdate,
  NewEndpoint,
} from '../domain/endpoint.ts'
import type { Queryable, Sql, Transaction } from '../../platform/db/client.ts'
import { isDeliveryPaused, showEvent, type EventTimes } from '../../tasks/db/event-log.ts'
import { disableEndpoint, stopEndpointEvents } from './endpoint-state.ts'

/** Holder of endpoints: a publisher, or an owner of tasks. The other one is null. */
export interface EndpointHolder {
  publisherId: string | null
  owner: string | null
}

export interface EndpointKey {
  id: string
  holder: EndpointHolder
}

/** Own headers as they are stored; no names: there are none. */
export interface StoredHeaders {
  names: string[]
  encrypted: string | null
}
type Stored<Body extends { headers?: unknown }> = Omit<Body, 'headers'> & {
  headers?: StoredHeaders | undefined
}

/** Makes an endpoint; undefined when there are as many as may be. */
export const insertEndpoint = async (
  sql: Transaction,
  {
    holder,
    by,
    url,
    events,
    format = 'json',
    labels = [],
    kinds = [],
    headers,
  }: Stored<NewEndpoint> & { holder: EndpointHolder; by: string },
  max: number,
): Promise<Endpoint | undefined> => {
  const { publisherId, owner } = holder
  // Two at once would both see the last place free.
  await sql`
    select pg_advisory_xact_lock(hashtextextended('endpoints ' || ${publisherId ?? ''} || ' ' || ${owner ?? ''}, 0))
  `
  const [row] = await sql<Row[]>`
    insert into endpoint as p (publisher_id, owner, created_by, url, events, format, labels, kinds, headers,
      header_names)
    select ${publisherId}, ${owner}, ${publisherId === null ? null : by}::text, ${url}, ${[...events]}::text[],
      ${format}, ${[...labels]}::text[], ${[...kinds]}::text[], ${headers?.encrypted ?? null},
      ${headers?.names ?? []}::text[]
    where ${max} > (select count(*) from endpoint p where ${isOf(sql, holder)})
    returning ${columns(sql)}
  `
  return row && toEndpoint(row)
}

export const listEndpoints = async (
  sql: Queryable,
  holder: EndpointHolder,
): Promise<Endpoint[]> => {
  const rows = await sql<Row[]>`
    select ${columns(sql)} from endpoint p where ${isOf(sql, holder)} order by created_at, id
  `
  return rows.map(toEndpoint)
}

export const findEndpoint = async (
  sql: Queryable,
  { id, holder }: EndpointKey,
): Promise<Endpoint | undefined> => {
  const [row] = await sql<Row[]>`
    select ${columns(sql)} from endpoint p where p.id = ${id} and ${isOf(sql, holder)}
  `
  return row && toEndpoint(row)
}

/**
 * Changes what is given. Switched off, it is sent nothing that is due; switched on, it is sent what happens from now
 * on. What is due goes to a new address. Undefined when there is no such endpoint.
 */
export const updateEndpoint = async (
  sql: Transaction,
  key: EndpointKey,
  { url, events, status, format, labels, kinds, headers }: Stored<EndpointUpdate>,
): Promise<Endpoint | undefined> => {
  const { id, holder } = key
  const isOn = status === 'enabled'
  // Whoever manages it may not read its headers, nor have them sent to a server of their own.
  const isMoved = sql`host_of(url) <> host_of(${url ?? null})`
  const { count } = await sql`
    update endpoint p
    set url = coalesce(${url ?? null}, url),
      events = coalesce(${events ? [...events] : null}::text[], events),
      format = coalesce(${format ?? null}, format),
      labels = coalesce(${labels ? [...labels] : null}::text[], labels),
      kinds = coalesce(${kinds ? [...kinds] : null}::text[], kinds),
      headers = case when ${headers !== undefined} then ${headers?.encrypted ?? null}
        when ${isMoved} then null else headers end,
      header_names = case when ${headers !== undefined} then ${headers?.names ?? []}::text[]
        when ${isMoved} then '{}' else header_names end,
      status = case when ${isOn} then 'enabled' else status end,
      disabled_reason = case when ${isOn} then null else disabled_reason end,
      disabled_at = case when ${isOn} then null else disabled_at end,
      -- a new address, and one that is mended, has its week before it
      failing_since = case when ${isOn || url !== undefined} then null else failing_since end
    where p.id = ${id} and ${isOf(sql, holder)}
  `
  if (count === 0) return undefined
  if (status === 'disabled' && (await disableEndpoint(sql, id, 'requested')))
    await stopEndpointEvents(sql, id)
  return await findEndpoint(sql, key)
}

/** Deletes an endpoint; false when there is none. Its rows go by their age. */
export const deleteEndpoint = async (
  sql: Transaction,
  { id, holder }: EndpointKey,
): Promise<boolean> => {
  const { count } = await sql`
    update endpoint p set status = 'deleted' where p.id = ${id} and ${isOf(sql, holder)}
  `
  if (count > 0) await stopEndpointEvents(sql, id)
  return count > 0
}

/** Records a test event, which is sent like every other; returns its id. */
export const insertTestEvent = async (sql: Transaction, endpointId: string): Promise<string> => {
  const [row] = await sql<{ id: string }[]>`
    insert into event (task_id, sequence, status, deliver, state, endpoint_id, data)
    values (gen_random_uuid(), 1, ${TEST_EVENT}, true, 'pending', ${endpointId},
      jsonb_build_object('test', true, 'endpoint_id', ${endpointId}::text))
    returning id
  `
  if (!row) throw new Error('insert returned no row')
  return row.id
}

/** Lists the events that an endpoint was sent and is to be sent, newest first. */
export const listEndpointEvents = async (
  sql: Sql,
  endpointId: string,
  { limit = 50, before, state }: EndpointEventQuery,
): Promise<EndpointEvent[]> => {
  const rows = await sql<EventRow[]>`
    select e.id, e.status as type, e.sequence, e.subject_id, e.created_at, e.state,
      coalesce(d.next_attempt_at, e.next_attempt_at) as next_attempt_at,
      (select count(*)::integer from attempt a where a.event_id = e.id) as attempts,
      ${isDeliveryPaused(sql)} as "isPaused"
    from event e
    left join redelivery d on d.event_id = e.id and d.state = 'pending'
    where e.endpoint_id = ${endpointId}
      ${before === undefined ? sql`` : sql`and (e.created_at, e.id) < (select b.created_at, b.id from event b where b.id = ${before})`}
      ${state === undefined ? sql`` : sql`and e.state = ${state}`}
    order by e.created_at desc, e.id desc
    limit ${limit}
  `
  return rows.map(({ subject_id: of, ...event }) => ({
    ...showEvent(event),
    ...(of !== null && { subject_id: of }),
  }))
}

interface EventRow extends EventTimes, Omit<EndpointEvent, keyof EventTimes | 'subject_id'> {
  subject_id: string | null
}

export const existsEndpointEvent = async (
  sql: Queryable,
  { endpointId, eventId }: { endpointId: string; eventId: string },
): Promise<boolean> => {
  const [row] = await sql`
    select from event where id = ${eventId} and endpoint_id = ${endpointId}
  `
  return row !== undefined
}

/** Events of one step: small, so that no statement holds locks for long. */
const BATCH = 200

/**
 * Deletes settled events of endpoints after some days, and deleted endpoints without events; returns how many. Attempts
 * and redeliveries go with their event. The last event of a publisher's chain stays: the next one is numbered after it.
 */
export const deleteOldEndpointEvents = async (sql: Sql, retentionDays: number): Promise<number> => {
  const { count } = await sql`
    delete from event
    where ctid = any(array(
      select e.ctid from event e
      where e.endpoint_id is not null and e.state <> 'pending'
        and e.created_at < now() - make_interval(days => ${retentionDays})
        and not exists (select from redelivery d where d.event_id = e.id and d.state = 'pending')
        and (
          e.subject_id is null
          or exists (select from event l where l.task_id = e.task_id and l.sequence > e.sequence)
          or not exists (
            select from endpoint p
            where p.id = e.endpoint_id and p.publisher_id is not null and p.status <> 'deleted'
          )
        )
      limit ${BATCH}
    ))
  `
  const gone = await sql<{ id: string }[]>`
    delete from endpoint p
    where p.status = 'deleted' and not exists (select from event e where e.endpoint_id = p.id)
    returning p.id
  `
  const owners = gone.map(({ id }) => endpointSecretOwner(id))
  if (owners.length > 0) await sql`delete from webhook_secret where owner = any(${owners}::text[])`
  return count + gone.length
}

const isOf = (sql: Queryable, { publisherId, owner }: EndpointHolder) => sql`
  (p.publisher_id = ${publisherId}::text or p.owner = ${owner}::text) and p.status <> 'deleted'
`

const columns = (sql: Queryable) => sql`
  p.id, p.url, p.events, p.status, p.disabled_reason, p.disabled_at, p.failing_since, p.created_at,
  p.created_by, p.labels, p.kinds, p.header_names, case when p.owner = ${PLATFORM_ACCOUNT} then p.format end as format
`

interface Row
  extends
    Pick<Endpoint, 'id' | 'url' | 'events' | 'status'>,
    Required<Pick<Endpoint, 'labels' | 'kinds' | 'header_names'>> {
  disabled_reason: Endpoint['disabled_reason'] | null
  disabled_at: Date | null
  failing_since: Date | null
  created_at: Date
  created_by: string | null
  format: EndpointFormat | null
}

const toEndpoint = ({
  disabled_reason,
  disabled_at,
  failing_since,
  created_at,
  created_by,
  format,
  labels,
  kinds,
  header_names,
  ...row
}: Row) => ({
  ...row,
  ...(labels.length > 0 && { labels }),
  ...(kinds.length > 0 && { kinds }),
  ...(header_names.length > 0 && { header_names }),
  ...(format !== null && { format }),
  ...(created_by !== null && { created_by }),
  ...(disabled_reason && { disabled_reason }),
  ...(disabled_at && { disabled_at: disabled_at.toISOString() }),
  ...(failing_since && { failing_since: failing_since.toISOString() }),
  created_at: created_at.toISOString(),
})
