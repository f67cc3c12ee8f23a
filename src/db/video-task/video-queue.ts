import { ANONYMOUS } from '../../domain/shared/account.ts'
import type { VideoTaskState } from '../../domain/video-task/video-task.ts'
import type { Queryable, Transaction } from '../client.ts'
import { isPaused } from '../task/pause.ts'
import { lockOwnerOf } from '../task/owner.ts'
import type { Enqueue } from '../unit-of-work.ts'
import { transitionTask } from '../task/task-transition.ts'

/** Most video tasks that may hold a slot at once. */
export interface Slots {
  /** Slots of one account that has none of its own (VIDEO_CONCURRENCY_PER_OWNER). */
  slots: number
  /** Slots of all accounts without a credential together (ANONYMOUS_SLOTS); absent: as many as of one. */
  anonymousSlots?: number
}

/** State of a task after it has entered its owner's queue. */
export interface Entered {
  state: VideoTaskState
  isAdmitted: boolean
  /** Seconds until an off-peak task must have ended; null for any other. */
  offPeakSecondsLeft: number | null
}

/**
 * Moves a task to queueing and admits the next task, which may be this one. A repetition only returns the state of the
 * task. Undefined when there is no such task.
 */
export const enterQueue = async (
  sql: Transaction,
  id: string,
  { offPeakSeconds, ...options }: Slots & { offPeakSeconds: number; enqueue: Enqueue },
): Promise<Entered | undefined> => {
  const owner = await lockOwnerOf(sql, id)
  if (owner === undefined) return undefined
  await transitionTask(sql, 'video', { id, to: 'queueing' })
  await returnPausedSlot(sql, id)
  await admitWaiting(sql, { ...options, owner, except: id })
  const [task] = await sql<Entered[]>`
    select status as state, admitted_at is not null as "isAdmitted",
      case when off_peak then greatest(0, extract(epoch from
        created_at + make_interval(secs => ${offPeakSeconds}) - clock_timestamp()))::float8
      end as "offPeakSecondsLeft"
    from task where id = ${id}
  `
  return task
}

/** Takes the slot back from a task that was paused before an attempt at it began. */
const returnPausedSlot = async (sql: Transaction, id: string): Promise<void> => {
  await sql`
    update task set admitted_at = null
    where id = ${id} and status = 'queueing' and admitted_at is not null and claimed_at is null
      and ${isPaused(sql)}
  `
}

/**
 * Gives free slots of an owner to the tasks that wait, and signals the workflow of each (except that of `except`, which
 * asks itself). An account's tasks go by priority and then in the order of their creation, off-peak ones after all others.
 * Of the accounts without a credential, which share an owner, the one goes first that would then hold the fewest. Those
 * that are paused wait. Thousands may, and are read only while a slot is free. The caller holds the owner's lock.
 */
export const admitWaiting = async (
  sql: Transaction,
  {
    owner,
    slots,
    anonymousSlots = slots,
    except,
    enqueue,
  }: Slots & { owner: string; except?: string; enqueue: Enqueue },
): Promise<void> => {
  const own = sql`coalesce((select slots from owner where id = ${owner}), ${slots}::integer)::bigint`
  const together = owner === ANONYMOUS ? sql`${anonymousSlots}::bigint` : own
  const rows = await sql<{ id: string }[]>`
    with held as (
      select coalesce(account, owner) as account, count(*) as held
      from task
      where owner = ${owner} and family = 'video' and ended_at is null and admitted_at is not null
      group by 1
    ), waiting as (
      select id, off_peak, created_at, coalesce(held, 0)
        + row_number() over (partition by account order by off_peak, priority desc, created_at, id) as place
      from (
        select id, coalesce(account, owner) as account, off_peak, priority, created_at
        from task
        where owner = ${owner} and family = 'video' and ended_at is null
          and status = 'queueing' and admitted_at is null and not ${isPaused(sql)}
      ) queued
      left join held using (account)
    ), admitted as (
      update task
      set admitted_at = clock_timestamp()
      where id in (
        select id from waiting
        where place <= ${own}
        order by off_peak, place, created_at, id
        limit (select greatest(0, ${together} - coalesce(sum(held), 0))::bigint from held)
      )
      returning id, off_peak, created_at
    )
    select id from admitted
    where id is distinct from ${except ?? null}::uuid
    order by off_peak, created_at, id
  `
  // The handler of this signal is in workflows/video-task.ts.
  for (const { id } of rows)
    await enqueue({ kind: 'signal', workflowId: `video-task/${id}`, signalName: 'admitted' })
}

/** Gives the slots of an owner that are free to tasks that wait, once a pause has ended. */
export const admitOwner = async (
  sql: Transaction,
  options: Slots & { owner: string; enqueue: Enqueue },
): Promise<void> => {
  await sql`select from owner where id = ${options.owner} for update`
  await admitWaiting(sql, options)
}

/** True when `task t` waits in the queue of an owner whose slots other tasks hold. Then its stillness means nothing. */
export const waitsForSlot = (sql: Queryable) => sql`(
  t.family = 'video' and t.status = 'queueing' and t.admitted_at is null
  and exists (
    select from task other
    where other.owner = t.owner and other.family = 'video' and other.ended_at is null
      and other.admitted_at is not null
  )
)`
