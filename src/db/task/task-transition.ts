import { FAMILIES, type TaskStatus } from '../../domain/task/family.ts'
import type { TaskFamily } from '../../domain/task/task-scope.ts'
import type { Fragment, Sql, Transaction } from '../client.ts'
import { isBroken, takeProbe } from './breaker.ts'
import { heldSince, holdPauses, isPaused } from './pause.ts'

export interface Transition {
  id: string
  to: TaskStatus
  /** Only from these statuses; absent: from every one that the family allows. */
  from?: readonly TaskStatus[] | undefined
  /** Only the attempt that holds this fence may move; absent for moves made outside of a render. */
  fence?: number | undefined
  error?: { code: string; message: string } | undefined
}

/**
 * Takes a task from one status to another, together with its event, and those for its owner's endpoints. False: the task has a status that the
 * transition does not start from, or another attempt holds the fence. Such a lost race is not an error.
 */
export const transitionTask = async (
  sql: Transaction,
  family: TaskFamily,
  transition: Transition,
): Promise<boolean> => {
  const { transitions, delivered, terminal, words } = FAMILIES[family]
  const { to, from = transitions[to] ?? [], fence = null, error } = transition
  const [isDelivered, isTerminal] = [delivered.includes(to), terminal.includes(to)]
  // Trigger `event_enters_first_try` (0013): a pending event makes a row of `first_try`, which `takeFirstAttempts` takes.
  const rows = await sql`
    with moved as (
      update task
      set status = ${to},
        error_code = ${error?.code ?? null},
        error_message = ${error?.message ?? null},
        rev = rev + 1,
        last_sequence = last_sequence + 1,
        last_moved_at = greatest(clock_timestamp(), last_moved_at),
        progress = case when ${to === words.done} then 100 else progress end,
        ended_at = case when ${isTerminal}
          then greatest(clock_timestamp(), last_moved_at) end,
        purge_at = case when ${isTerminal}
          then clock_timestamp() + make_interval(secs => retention_seconds) end
      where id = ${transition.id}
        and family = ${family}
        and status = any(${[...from]})
        and (${fence}::integer is null or fence = ${fence}::integer)
      returning id, family, owner, last_sequence, status, last_moved_at, webhook_url, receiver_gone_at
    )
    insert into event (task_id, sequence, status, deliver, created_at, state, endpoint_id, subject_id)
    select id, last_sequence, status, ${isDelivered}::boolean, last_moved_at,
      case
        when not ${isDelivered}::boolean or webhook_url is null then 'unsent'
        when receiver_gone_at is not null then 'stopped'
        else 'pending'
      end, null::uuid, null::uuid
    from moved
    union all
    -- in the same insert: a second one would open all indexes of the table once more
    select chain_of(p.id, m.id), m.last_sequence, m.family || '_task.' || lower(m.status), true, m.last_moved_at,
      'pending', p.id, m.id
    from moved m
    join endpoint p on p.owner = m.owner and p.status = 'enabled'
      and m.family || '_task.' || lower(m.status) = any(p.events)
    returning 1
  `
  return rows.length > 0
}

interface NewEvent {
  taskId: string
  sequence: number
  status: string
  deliver: boolean
}

/**
 * Writes the event of a move, in the move's own transaction and with the move's time, which never goes back even when
 * the server's clock does. `unique (task_id, sequence)` rejects a second event.
 */
export const insertEvent = async (sql: Transaction, event: NewEvent): Promise<void> => {
  const { count } = await sql`
    insert into event (task_id, sequence, status, deliver, created_at)
    select id, ${event.sequence}::integer, ${event.status}, ${event.deliver}::boolean, last_moved_at
    from task
    where id = ${event.taskId}
  `
  if (count !== 1) throw new Error(`event ${event.sequence} of a task that is not there`)
}

/** A task under the fence of the attempt that has claimed it. */
export interface ClaimedTask<Kind extends string = string> {
  id: string
  kind: Kind
  settings: object
  fence: number
  /** The upstream's id of the task, once it has taken it; null of other engines. */
  upstreamId: string | null
  /** Row of the template whose graph it keeps; null of the service's own kinds. */
  templateId: number | null
  claimedAt: Date
  /** Seconds since the first attempt claimed the task, without those for which it was held. */
  age: number
  /** It alone tries whether its engine works again. */
  isProbe?: boolean
}

/** A task that may not begin now: it is paused, the breaker of its engine is open, or others of its account go ahead. */
export interface HeldTask {
  held: 'paused' | 'breaker' | 'behind'
  /** No attempt at it has begun yet. */
  isQueued: boolean
}

/** True of a task that may not begin now. */
export const isHeld = (claimed: object | undefined): claimed is HeldTask =>
  claimed !== undefined && 'held' in claimed

/**
 * Takes a new fence for one attempt at rendering: nothing else begins one. Undefined when the task is not to be claimed any
 * more, or not yet. A pause leaves alone what runs at an upstream. The time for which a task was held counts to no deadline.
 */
export const takeFence = async <Kind extends string>(
  sql: Transaction,
  id: string,
  mayClaim: Fragment,
): Promise<ClaimedTask<Kind> | HeldTask | undefined> => {
  const paused = sql`(upstream_id is null and ${isPaused(sql)})`
  const [, isProbe, [claimed]] = await Promise.all([
    holdPauses(sql),
    takeProbe(sql, id),
    sql<ClaimedTask<Kind>[]>`
    update task
    set fence = fence + 1,
      tries = case when jsonb_array_length(tries) < 50
        then tries || jsonb_build_object('n', fence + 1, 'at', clock_timestamp()) else tries end,
      claimed_at = coalesce(
        claimed_at + coalesce(clock_timestamp() - held_at, interval '0'),
        greatest(clock_timestamp(), last_moved_at)),
      held_at = null
    where id = ${id} and ${mayClaim} and not ${paused} and not ${isBroken(sql, id)}
    returning id, kind, settings, fence, upstream_id as "upstreamId", template_id as "templateId",
      claimed_at as "claimedAt",
      extract(epoch from clock_timestamp() - claimed_at)::float8 as age
  `.execute(),
  ])
  if (claimed) return { ...claimed, isProbe }
  const [held] = await sql<HeldTask[]>`
    update task set held_at = ${heldSince(sql)}
    where id = ${id} and ${mayClaim} and (${paused} or ${isBroken(sql, id)})
    returning case when ${paused} then 'paused' else 'breaker' end as held,
      claimed_at is null as "isQueued"
  `
  return held
}

/** Records that the attempt with this fence has ended because its engine fails: the deadline of the task stands still. */
export const holdTask = async (
  sql: Sql,
  { id, fence }: { id: string; fence: number },
): Promise<void> => {
  await sql`
    update task set held_at = coalesce(held_at, clock_timestamp())
    where id = ${id} and fence = ${fence} and ended_at is null
  `
}
