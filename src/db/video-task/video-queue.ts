import type { VideoTaskState } from '../../domain/video-task/video-task.ts'
import type { Queryable, Transaction } from '../client.ts'
import { lockOwnerOf } from './owner.ts'
import type { OutboxRow } from '../shared/outbox.ts'
import { moveVideoTask } from './video-move.ts'

/** Where a task stands after it has entered its owner's queue. */
export interface Entered {
  state: VideoTaskState
  isAdmitted: boolean
  /** Seconds until an off-peak task must have ended; null for any other. */
  offPeakSecondsLeft: number | null
  /** Signals that wake the tasks admitted meanwhile. */
  signals: OutboxRow[]
}

/**
 * Moves a task to queueing and admits whoever is next, which may be this very task. Repeated, it only tells where the
 * task stands. Undefined when there is no such task.
 */
export const enterQueue = async (
  sql: Transaction,
  id: string,
  { slots, offPeakSeconds }: { slots: number; offPeakSeconds: number },
): Promise<Entered | undefined> => {
  const owner = await lockOwnerOf(sql, id)
  if (owner === undefined) return undefined
  await moveVideoTask(sql, { id, to: 'queueing' })
  const signals = await admitWaiting(sql, { owner, slots, except: id })
  const [task] = await sql<Omit<Entered, 'signals'>[]>`
    select status as state, admitted_at is not null as "isAdmitted",
      case when off_peak then greatest(0, extract(epoch from
        created_at + make_interval(secs => ${offPeakSeconds}) - clock_timestamp()))::float8
      end as "offPeakSecondsLeft"
    from task where id = ${id}
  `
  return task && { ...task, signals }
}

/**
 * Gives free slots of an owner to the tasks that wait longest, off-peak ones after all others, and writes the signals
 * that wake them (none for `except`, whose workflow asks). The caller holds the owner's lock.
 */
export const admitWaiting = async (
  sql: Transaction,
  { owner, slots, except }: { owner: string; slots: number; except?: string },
): Promise<OutboxRow[]> => {
  const rows = await sql<{ id: string; workflowId: string }[]>`
    with admitted as (
      update task
      set admitted_at = clock_timestamp()
      where id in (
        select id from task
        where owner = ${owner} and family = 'video' and ended_at is null
          and status = 'queueing' and admitted_at is null
        order by off_peak, created_at, id
        limit greatest(0, ${slots}::bigint - (
          select count(*) from task
          where owner = ${owner} and family = 'video' and ended_at is null and admitted_at is not null
        ))
      )
      returning id, off_peak, created_at
    )
    insert into outbox (kind, workflow_id, signal_name)
    select 'signal', 'video-task/' || id, 'admitted'
    from admitted
    where id is distinct from ${except ?? null}::uuid
    order by off_peak, created_at, id
    returning id, workflow_id as "workflowId"
  `
  return rows.map(({ id, workflowId }) => ({
    kind: 'signal',
    id,
    workflowId,
    signalName: 'admitted',
    tries: 0,
  }))
}

/** Whether `task t` stands in the queue of an owner whose slots other tasks hold, so that its stillness tells nothing. */
export const waitsForSlot = (sql: Queryable) => sql`(
  t.family = 'video' and t.status = 'queueing' and t.admitted_at is null
  and exists (
    select from task other
    where other.owner = t.owner and other.family = 'video' and other.ended_at is null
      and other.admitted_at is not null
  )
)`
