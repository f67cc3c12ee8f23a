import { MAX_OPEN, type BulkKind, type ItemError } from '../../domain/bulk/bulk.ts'
import type { Queryable, Sql, Transaction } from '../../../platform/db/client.ts'
import { isMakerLive } from '../../../identity/db/api-key.ts'
import { endTokensOnOthers } from '../../../identity/db/task-token.ts'
import { isAmong, type StalledOptions } from '../../../platform/db/reconcile.ts'
import { createdAtUs, placeOf, type TaskPlace } from '../task-place.ts'

export interface NewBulk {
  id: string
  kind: BulkKind
  /** Whose tasks a batch makes, and who has asked for an operation. */
  owner: string
  /** The key that it is made with; it ends with that. */
  apiKeyId?: string | undefined
  /** Request that it carries out, in the terms of its kind. */
  request: object
  webhookUrl?: string | null
  /** Number of its items, where that is known before it is prepared. */
  total?: number
}

/** Lets one transaction of an owner make them: two at once would both see the last place free. */
export const lockBulks = async (sql: Transaction, owner: string): Promise<void> => {
  await sql`select pg_advisory_xact_lock(hashtextextended('bulk ' || ${owner}, 0))`
}

/** Inserts one; false when its owner has as many open ones as may be. */
export const insertBulk = async (sql: Transaction, bulk: NewBulk): Promise<boolean> => {
  const { id, kind, owner, apiKeyId = null, request, webhookUrl = null, total = 0 } = bulk
  await lockBulks(sql, owner)
  const { count } = await sql`
    insert into bulk (id, kind, owner, api_key_id, request, webhook_url, total)
    select ${id}::uuid, ${kind}, ${owner}, ${apiKeyId}::uuid, ${sql.json(request as never)}, ${webhookUrl},
      ${total}::integer
    where ${MAX_OPEN} > (select count(*) from bulk where owner = ${owner} and ended_at is null)
  `
  return count > 0
}

export const existsBulk = async (sql: Queryable, id: string): Promise<boolean> => {
  const [row] = await sql`select from bulk where id = ${id}`
  return row !== undefined
}

/** Lists the given ids that no batch or operation has. */
export const listUnknownBulks = async (sql: Sql, ids: readonly string[]): Promise<string[]> => {
  const rows = await sql<{ id: string }[]>`
    select given.id from unnest(${[...ids]}::uuid[]) as given (id)
    where not exists (select from bulk where bulk.id = given.id)
  `
  return rows.map(({ id }) => id)
}

export interface BulkRow<Request = object, Counts = object> {
  id: string
  kind: BulkKind
  owner: string
  /** False once the API key that it was made with or the account of its owner has ended. */
  isMakerLive: boolean
  state: 'preparing' | 'running' | 'done' | 'cancelled' | 'failed'
  request: Request
  webhookUrl: string | null
  total: number
  nextIndex: number
  nextOffset: number
  error: ItemError | null
  isCancelRequested: boolean
  counts: Counts | null
  createdAt: Date
  createdAtUs: string
  endedAt: Date | null
}

/** A value as JSON; null stays SQL's null, and does not become JSON's. */
export const jsonOrNull = (sql: Queryable, value: object | null) =>
  value === null ? null : sql.json(value as never)

const columns = (sql: Queryable) => sql`
  t.id, t.kind, t.owner, ${isMakerLive(sql)} as "isMakerLive", t.state, t.request, t.webhook_url as "webhookUrl", t.total,
  t.next_index as "nextIndex", t.next_offset::float8 as "nextOffset", t.error,
  t.cancel_requested_at is not null as "isCancelRequested", t.counts, t.created_at as "createdAt",
  ${createdAtUs(sql)}, t.ended_at as "endedAt"
`

/** Finds one, of an owner where that is said. */
export const findBulk = async <Request = object, Counts = object>(
  sql: Queryable,
  { id, kind, owner }: { id: string; kind?: BulkKind; owner?: string | undefined },
): Promise<BulkRow<Request, Counts> | undefined> => {
  const [row] = await sql<BulkRow<Request, Counts>[]>`
    select ${columns(sql)} from bulk t
    where t.id = ${id}
      ${kind === undefined ? sql`` : sql`and t.kind = ${kind}`}
      ${owner === undefined ? sql`` : sql`and t.owner = ${owner}`}
  `
  return row
}

/** Lists a page of an owner's batches or operations, newest first. */
export const listBulks = async <Request>(
  sql: Sql,
  {
    owner,
    kind,
    after,
    limit,
  }: { owner: string; kind: BulkKind; after: TaskPlace | undefined; limit: number },
): Promise<{ rows: BulkRow<Request>[]; next?: TaskPlace }> => {
  const rows = await sql<BulkRow<Request>[]>`
    select ${columns(sql)} from bulk t
    where t.owner = ${owner} and t.kind = ${kind}
      ${after ? sql`and (t.created_at, t.id) < (${placeOf(sql, after)})` : sql``}
    order by t.created_at desc, t.id desc
    limit ${limit + 1}
  `
  const last = rows.length > limit ? rows[limit - 1] : undefined
  return { rows: rows.slice(0, limit), ...(last && { next: last }) }
}

/**
 * Asks one that has not ended to stop; returns its state before, undefined when it has ended. What takes effect is known
 * from then on: each item checks this as it commits.
 */
export const requestCancel = async (
  sql: Transaction,
  id: string,
): Promise<Pick<BulkRow, 'state' | 'isCancelRequested' | 'endedAt'> | undefined> => {
  const [before] = await sql<Pick<BulkRow, 'state' | 'isCancelRequested' | 'endedAt'>[]>`
    update bulk set cancel_requested_at = coalesce(bulk.cancel_requested_at, clock_timestamp())
    from (select id, cancel_requested_at from bulk where id = ${id} and ended_at is null for update) old
    where bulk.id = old.id
    returning bulk.state, old.cancel_requested_at is not null as "isCancelRequested",
      bulk.ended_at as "endedAt"
  `
  return before
}

/** Asks the operations of an owner on tasks of others to stop, and ends the tokens that read one. */
export const cancelOnOthers = async (sql: Transaction, owner: string): Promise<void> => {
  await sql`
    update bulk set cancel_requested_at = coalesce(cancel_requested_at, clock_timestamp())
    where owner = ${owner} and ended_at is null and kind = 'operation'
      and request->>'of' is distinct from owner
  `
  await endTokensOnOthers(sql, owner)
}

/** Lets one begin with its items, which are all known now. */
export const beginBulk = async (
  sql: Transaction,
  { id, total }: { id: string; total: number },
): Promise<void> => {
  await sql`
    update bulk set state = 'running', total = ${total}, changed_at = clock_timestamp()
    where id = ${id} and state = 'preparing'
  `
}

/** Records why one waits; null: it goes on. */
export const showWait = async (sql: Sql, id: string, error: ItemError | null): Promise<void> => {
  await sql`update bulk set error = ${jsonOrNull(sql, error)} where id = ${id} and ended_at is null`
}

export interface EndedBulk {
  id: string
  state: 'done' | 'cancelled' | 'failed'
  counts: object
  error: ItemError | null
}

/** Ends one; false when it had ended. */
export const endBulk = async (
  sql: Transaction,
  { id, state, counts, error }: EndedBulk,
): Promise<boolean> => {
  const { count } = await sql`
    update bulk set state = ${state}, counts = ${sql.json(counts as never)},
      error = ${jsonOrNull(sql, error)}, ended_at = clock_timestamp(), changed_at = clock_timestamp(),
      watched_task = null
    where id = ${id} and ended_at is null
  `
  return count > 0
}

/** Writes the event of its end, for the webhook URL that it names and for the owner's subscriptions that want it. */
export const insertEndEvents = async (
  sql: Transaction,
  { id, type, data }: { id: string; type: string; data: object },
): Promise<void> => {
  // Trigger `event_enters_first_attempt` (0069): a pending event makes a row of `first_attempt`, which is sent at once.
  await sql`
    insert into event (task_id, sequence, status, deliver, state, endpoint_id, subject_id, data)
    select b.id, 1, ${type}, true, 'pending', null::uuid, b.id, ${sql.json(data as never)}::jsonb
    from bulk b where b.id = ${id} and b.webhook_url is not null
    union all
    select chain_of(p.id, b.id), 1, ${type}, true, 'pending', p.id, b.id, ${sql.json(data as never)}::jsonb
    from bulk b
    join endpoint p on p.owner = b.owner and p.status = 'enabled' and ${type} = any(p.events)
    where b.id = ${id}
  `
}

export type StalledBulk = Pick<NewBulk, 'id' | 'kind' | 'owner'>

/** Lists open bulks that have not changed for so long, although nothing of theirs waits for the relay, by their ids. */
export const listStalledBulks = async (
  sql: Sql,
  { afterSeconds, ids, limit }: StalledOptions,
): Promise<StalledBulk[]> =>
  await sql`
  select b.id, b.kind, b.owner from bulk b
  where b.ended_at is null and b.changed_at < now() - make_interval(secs => ${afterSeconds})
    and ${isAmong(sql, sql`b.id`, ids)}
    and not exists (
      select from outbox o
      where o.workflow_id = 'run-' || b.kind || '/' || b.id
        and o.kind <> 'signal' and o.dispatched_at is null
    )
  order by b.id
  limit ${limit}
`

/** Few, because the items of each go with it. */
const DELETED_AT_ONCE = 5

/** Deletes batches and operations that ended so many days ago, with their items and events; returns how many. */
export const deleteOldBulks = async (sql: Sql, retentionDays: number): Promise<number> => {
  const { count } = await sql`
    with old as (
      select id from bulk where ended_at < now() - make_interval(days => ${retentionDays})
      order by ended_at limit ${DELETED_AT_ONCE}
    ), events as (
      delete from event where task_id in (select id from old)
    )
    delete from bulk where id in (select id from old)
  `
  return count
}
