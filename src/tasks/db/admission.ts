import { ANONYMOUS } from '../../platform/domain/account.ts'
import type { EngineName } from '../domain/engine.ts'
import type { TaskFamily } from '../../platform/domain/task-scope.ts'
import type { Fragment, Queryable, Sql, Transaction } from '../../platform/db/client.ts'
import type { OutboxStart } from '../../platform/db/outbox.ts'
import type { Enqueue } from '../../platform/db/unit-of-work.ts'
import { isBroken } from './breaker.ts'
import { isPaused } from './pause.ts'
import { transitionTask } from './task-transition.ts'

/** A task as whoever starts its workflow knows it. */
export interface TaskToStart {
  id: string
  family: TaskFamily
  kind: string
  owner: string
  /** Account that it counts for. */
  account: string
  offPeak: boolean
  engine: EngineName
  /** Order among the waiting tasks of its account. */
  priority: number
  /** Number of its admissions, which its run has, too. */
  admission: number
  /** Batch that has made it. */
  batchId?: string | null | undefined
  /** Resolution and seconds of a video, for operators; empty of an image. */
  detail: string
}

/** The columns of a `TaskToStart`, from `task t`. */
export const startColumns = (sql: Queryable): Fragment => sql`
  t.id, t.family, t.kind, t.owner, coalesce(t.account, t.owner) as account, t.off_peak as "offPeak", t.engine, t.priority,
  t.admission, t.batch_id as "batchId", case when t.family = 'video'
    then concat_ws(' ', t.settings->>'resolution', (t.settings->>'duration') || ' s') else '' end as detail
`

/** Rules by which tasks are admitted. */
export interface AdmissionRules {
  /** Videos of one account that may have a slot at once, where it has no number of its own (VIDEO_CONCURRENCY_PER_OWNER). */
  slots: number
  /** Slots of all accounts without a credential together; absent: as many as of one account. */
  anonymousSlots?: number
  /** Makes the row of the outbox that starts a task's workflow; `summary` is what an operator reads first. */
  startOf(task: Omit<TaskToStart, 'detail'> & { detail?: string }, summary?: string): OutboxStart
}

interface Admit extends AdmissionRules {
  owner: string
  enqueue: Enqueue
}

/** Admits videos of an owner whose row the transaction has not locked yet, and which a first task may not have made. */
export const admitOwner = async (sql: Transaction, options: Admit): Promise<number> => {
  const { owner } = options
  // Sent together, in this order.
  const [, , admitted] = await Promise.all([
    sql`insert into owner (id) values (${owner}) on conflict (id) do nothing`.execute(),
    sql`select from owner where id = ${owner} for update`.execute(),
    admitVideos(sql, options),
  ])
  return admitted
}

/** Admits an image that the caller has seen blocked by nothing. */
export const admitImage = async (
  sql: Transaction,
  id: string,
): Promise<TaskToStart | undefined> => {
  const [task] = await sql<TaskToStart[]>`
    update task t set waits_on = null, admission = admission + 1
    where id = ${id} and waits_on is not null and ended_at is null and task_block(t) is null
    returning ${startColumns(sql)}
  `
  return task
}

/**
 * Gives free slots of an owner to waiting videos that nothing else blocks, and admits videos that have kept their slot:
 * each goes to queueing, and its workflow starts. An account's tasks go by priority and then in the order of their
 * creation, off-peak ones after all others. Accounts without a credential share an owner: the account that would then
 * have the fewest slots goes first. Thousands may wait, and are read only while a slot is free. The caller holds the
 * owner's lock. Returns how many were admitted.
 */
export const admitVideos = async (
  sql: Transaction,
  { owner, slots, anonymousSlots = slots, startOf, enqueue }: Admit,
): Promise<number> => {
  const own = sql`coalesce((select slots from owner where id = ${owner}), ${slots}::integer)::bigint`
  const together = owner === ANONYMOUS ? sql`${anonymousSlots}::bigint` : own
  const open = sql`owner = ${owner} and family = 'video' and ended_at is null`
  const isFree = sql`waits_on <> 'later' and waits_on not like 'template:%' and not ${isPaused(sql)} and not ${isBroken(sql)}`
  const tasks = await sql<TaskToStart[]>`
    with taken as (
      select coalesce(account, owner) as account, count(*) as taken
      from task where ${open} and admitted_at is not null
      group by 1
    ), waiting as (
      select id, off_peak, created_at, coalesce(taken, 0)
        + row_number() over (partition by account order by off_peak, priority desc, created_at, id) as place
      from (
        select id, coalesce(account, owner) as account, off_peak, priority, created_at
        from task where ${open} and admitted_at is null and ${isFree}
      ) queued
      left join taken using (account)
    ), chosen as (
      (select id from waiting where place <= ${own}
        order by off_peak, place, created_at, id
        limit (select greatest(0, ${together} - coalesce(sum(taken), 0))::bigint from taken))
      union all
      select id from task
      where ${open} and admitted_at is not null and waits_on not like 'template:%' and task_block(task) is null
    ), admitted as (
      update task t
      set waits_on = null, admission = admission + 1,
        admitted_at = coalesce(admitted_at, clock_timestamp())
      where id in (select id from chosen)
      returning t.*
    )
    select ${startColumns(sql)} from admitted t order by off_peak, created_at, id
  `.execute()
  await Promise.all(
    tasks.flatMap((task) => [
      transitionTask(sql, 'video', { id: task.id, to: 'queueing' }),
      enqueue(startOf(task)),
    ]),
  )
  return tasks.length
}

/** Tasks of one account in a queue that nobody has claimed: twice as many as its workers take at once, or so many. */
const LEAST_QUEUED = 10

/** Accounts that one pass looks at. */
const ACCOUNTS = 200

interface TopUp {
  engine: EngineName
  /** Tasks that the workers of the engine take at once. */
  slots: number
  /** Account behind which the last pass ended. */
  after: string
}

/** Accounts of a pass that have tasks which may go on. */
interface Turn {
  /** Behind which the next pass goes on; empty: at the first. */
  after: string
  /** There are some, admitted or not. */
  isAny: boolean
}

/** Accounts that a pass has looked at, by the last of them. */
const turnOf = ({ accounts, last }: { accounts: number; last: string | null }): Turn => ({
  after: accounts < ACCOUNTS ? '' : (last ?? ''),
  isAny: accounts > 0,
})

/** Tasks of a family and an engine. */
export interface FamilyEngine {
  family: TaskFamily
  engine: EngineName
}

/** Lists families and engines that have waiting tasks. */
export const listWaiting = (sql: Sql): Promise<FamilyEngine[]> =>
  listPairs(sql, sql`waits_on is not null and ended_at is null`)

/** Lists families and engines that have admitted tasks which nobody has claimed. */
export const listUnclaimed = (sql: Sql): Promise<FamilyEngine[]> =>
  listPairs(sql, sql`waits_on is null and claimed_at is null and ended_at is null`)

/** Lists families and engines of tasks, by one step of the condition's index for each. */
const listPairs = async (sql: Sql, condition: Fragment): Promise<FamilyEngine[]> =>
  await sql`
  with recursive pair as (
    (select family, engine from task where ${condition} order by family, engine limit 1)
    union all
    select next.* from pair, lateral (
      select family, engine from task where ${condition} and (family, engine) > (pair.family, pair.engine)
      order by family, engine limit 1
    ) next
  )
  select family, engine from pair
`

export interface ToppedUp extends Turn {
  tasks: TaskToStart[]
}

/** Accounts in turn that have tasks of a family and engine that may go on, by the words that they wait on. */
const accountsInTurn = (
  sql: Queryable,
  { family, engine, after }: FamilyEngine & { after: string },
): Fragment => {
  const next = (from: Fragment) => sql`(
    select min(found.account) from word, lateral (
      select account from task
      where family = ${family} and engine = ${engine} and waits_on = word.is and account > ${from}
        and waits_on is not null and ended_at is null
      order by account limit 1
    ) found
  )`
  return sql`
    account as (
      select ${next(sql`${after}`)} as id
      union all
      select ${next(sql`account.id`)} from account where account.id is not null
    ), turn as (
      select id from account where id is not null limit ${ACCOUNTS}
    )
  `
}

/**
 * Admits images of an engine that nothing blocks any more, of the accounts in turn: so many of each that its queue has work
 * for all workers, by priority and then in the order of their creation. One that something else blocks says so from now on.
 */
export const topUpImages = async (
  sql: Transaction,
  { engine, slots, after }: TopUp,
): Promise<ToppedUp> => {
  const max = Math.max(2 * slots, LEAST_QUEUED)
  const queued = sql`family = 'image' and engine = ${engine} and ended_at is null`
  const rows = await sql<
    (TaskToStart & { waitsOn: string | null; accounts: number; last: string | null })[]
  >`
    with recursive word as materialized (
      select unnest(resumable_waits('image', ${engine})) as is
    ), ${accountsInTurn(sql, { family: 'image', engine, after })}, chosen as (
      select best.id from turn, lateral (
        select ${max} - count(*) as free from (
          select from task where ${queued} and account = turn.id and waits_on is null and claimed_at is null
          limit ${max}
        ) counted
      ) room, lateral (
        select id, priority, max(priority) over () as top from (
          select found.* from word, lateral (
            select id, priority, created_at from task
            where ${queued} and account = turn.id and waits_on = word.is and waits_on is not null
            order by priority desc, created_at, id
            limit room.free
          ) found
          order by priority desc, created_at, id
          limit room.free
        ) first
      ) best
      where best.priority = best.top
    ), locked as (
      select t.id, task_block(t) as block from task t
      where id in (select id from chosen) and waits_on is not null and ended_at is null
      for update skip locked
    ), changed as (
      update task t
      set waits_on = block, admission = admission + case when block is null then 1 else 0 end
      from locked where t.id = locked.id and t.waits_on is distinct from block
      returning t.*
    )
    select ${startColumns(sql)}, t.waits_on as "waitsOn", seen.*
    from (select max(id) as last, count(*)::integer as accounts from turn) seen
    left join changed t on true
    order by t.priority desc, t.created_at, t.id
  `
  return {
    tasks: rows.filter(({ id, waitsOn }) => id !== null && waitsOn === null),
    ...turnOf(rows[0] ?? NOBODY),
  }
}

const NOBODY = { accounts: 0, last: null }

/** Lists owners of videos that may be admitted, of the accounts in turn: a slot is free, or one has kept its own. */
export const listOwnersToAdmit = async (
  sql: Sql,
  {
    engine,
    after,
    slots,
    anonymousSlots = slots,
  }: Omit<AdmissionRules, 'startOf'> & Pick<TopUp, 'engine' | 'after'>,
): Promise<Omit<Turn, 'isAny'> & { owners: string[] }> => {
  const [row] = await sql<{ owners: string[]; accounts: number; last: string | null }[]>`
    with recursive word as materialized (
      select unnest(resumable_waits('video', ${engine}) || array['slot']) as is
    ), ${accountsInTurn(sql, { family: 'video', engine, after })}, owner_of as (
      select distinct (
        select owner from task
        where account = turn.id and family = 'video' and waits_on is not null and ended_at is null
        limit 1
      ) as id from turn
    )
    select (select max(id) from turn) as last, (select count(*)::integer from turn) as accounts,
      array(
        select id from owner_of
        where id is not null and ((
          select count(*) from task
          where owner = owner_of.id and family = 'video' and ended_at is null and admitted_at is not null
        ) < case when id = ${ANONYMOUS} then ${anonymousSlots}::bigint
            else coalesce((select slots from owner where id = owner_of.id), ${slots}::integer) end
        or exists (
          select from task
          where owner = owner_of.id and family = 'video' and ended_at is null and admitted_at is not null
            and waits_on is not null and not blocks(waits_on)
        ))
      ) as owners
  `
  return { owners: row?.owners ?? [], after: turnOf(row ?? NOBODY).after }
}
