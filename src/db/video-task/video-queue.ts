import type { VideoTaskState } from '../../domain/video-task/video-task.ts'
import type { Queryable, Transaction } from '../client.ts'
import { lockOwnerOf } from './owner.ts'
import type { Tell } from '../unit-of-work.ts'
import { moveVideoTask } from './video-move.ts'

/** Where a task stands after it has entered its owner's queue. */
export interface Entered {
  state: VideoTaskState
  isAdmitted: boolean
  /** Seconds until an off-peak task must have ended; null for any other. */
  offPeakSecondsLeft: number | null
}

/**
 * Moves a task to queueing and admits the next task, which may be this one. A repetition only tells where the task
 * stands. Undefined when there is no such task.
 */
export const enterQueue = async (
  sql: Transaction,
  id: string,
  { slots, offPeakSeconds, tell }: { slots: number; offPeakSeconds: number; tell: Tell },
): Promise<Entered | undefined> => {
  const owner = await lockOwnerOf(sql, id)
  if (owner === undefined) return undefined
  await moveVideoTask(sql, { id, to: 'queueing' })
  await admitWaiting(sql, { owner, slots, except: id, tell })
  const [task] = await sql<Entered[]>`
    select status as state, admitted_at is not null as "isAdmitted",
      case when off_peak then greatest(0, extract(epoch from
        created_at + make_interval(secs => ${offPeakSeconds}) - clock_timestamp()))::float8
      end as "offPeakSecondsLeft"
    from task where id = ${id}
  `
  return task
}

/**
 * Gives free slots of an owner to the tasks that wait longest, off-peak ones after all others, and tells the workflow
 * of each (except that of `except`, which asks itself). The caller holds the owner's lock.
 */
export const admitWaiting = async (
  sql: Transaction,
  { owner, slots, except, tell }: { owner: string; slots: number; except?: string; tell: Tell },
): Promise<void> => {
  const rows = await sql<{ id: string }[]>`
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
    select id from admitted
    where id is distinct from ${except ?? null}::uuid
    order by off_peak, created_at, id
  `
  for (const { id } of rows)
    await tell({ kind: 'signal', workflowId: `video-task/${id}`, signalName: 'admitted' })
}

/** Whether `task t` waits in the queue of an owner whose slots other tasks hold. Then its stillness tells nothing. */
export const waitsForSlot = (sql: Queryable) => sql`(
  t.family = 'video' and t.status = 'queueing' and t.admitted_at is null
  and exists (
    select from task other
    where other.owner = t.owner and other.family = 'video' and other.ended_at is null
      and other.admitted_at is not null
  )
)`
