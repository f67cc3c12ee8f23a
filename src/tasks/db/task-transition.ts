import { FAMILIES, type TaskStatus } from '../domain/family.ts'
import type { Output } from '../domain/task-options.ts'
import type { TaskFamily } from '../../platform/domain/task-scope.ts'
import type { Fragment, Sql, Transaction } from '../../platform/db/client.ts'
import { endedAttempt, PUT_BACK } from './ended-attempt.ts'
import { labelsOf } from './labels.ts'
import { holdPauses } from './pause.ts'

export interface Transition {
  id: string
  to: TaskStatus
  /** Only from these statuses; absent: from every one that the family allows. */
  from?: readonly TaskStatus[] | undefined
  /** Only the attempt that holds this fence may move; absent for moves made outside of a render. */
  fence?: number | undefined
  error?: { code: string; message: string } | undefined
}

/** A task after a transition, as the log has it. */
export interface MovedTask {
  task_id: string
  kind: string
  state: string
  code: string | null
  engine: string
  /** Attempts at rendering it. */
  attempts: number
  /** Since its creation, or since the time it was to start after; those in which it rendered left out. */
  seconds_waited: number
  seconds_run: number
}

/**
 * Takes a task from one status to another, together with its event, and those for its owner's endpoints. Undefined: the task
 * has a status that the transition does not start from, or another attempt holds the fence. Such a lost race is not an error.
 * Trigger `watched_task_ended` (0066): signals the end to a batch that watches the task.
 */
export const transitionTask = async (
  sql: Transaction,
  family: TaskFamily,
  transition: Transition,
): Promise<MovedTask | undefined> => {
  const { transitions, delivered, terminal, words } = FAMILIES[family]
  const { to, from = transitions[to] ?? [], fence = null, error } = transition
  const [isDelivered, isTerminal] = [delivered.includes(to), terminal.includes(to)]
  const [moved] = await sql<MovedTask[]>`
    with moved as (
      update task
      set status = ${to},
        error_code = ${error?.code ?? null},
        error_message = ${error?.message ?? null},
        waits_on = case when ${isTerminal} then null else waits_on end,
        ${step(sql)},
        progress = case when ${to === words.done} then 100 else progress end,
        ended_at = case when ${isTerminal}
          then greatest(clock_timestamp(), last_moved_at) end,
        purge_at = case when ${isTerminal}
          then clock_timestamp() + make_interval(secs => retention_seconds) end
      where id = ${transition.id}
        and family = ${family}
        and status = any(${[...from]})
        and (${fence}::integer is null or fence = ${fence}::integer)
      returning id, family, owner, last_sequence, status, last_moved_at, webhook_url, receiver_gone_at, kind, error_code,
        engine, fence, created_at, start_after, claimed_at
    ), noted as (
      ${insertEventsOf(sql, isDelivered)}
    )
    select id as task_id, kind, task_state(status, error_code) as state, error_code as code, engine, fence as attempts,
      round(greatest(0, age - run)::numeric, 3)::float8 as seconds_waited, round(run::numeric, 3)::float8 as seconds_run
    from moved, lateral (select
      extract(epoch from last_moved_at - greatest(created_at, start_after)) as age,
      coalesce(extract(epoch from last_moved_at - claimed_at), 0) as run
    ) seconds
  `
  return moved
}

/** Changes of each transition to the row of its task. */
const step = (sql: Transaction): Fragment => sql`
  rev = rev + 1,
  last_sequence = last_sequence + 1,
  last_moved_at = greatest(clock_timestamp(), last_moved_at)
`

/**
 * Inserts the event of each row of `moved`, and those for its owner's endpoints, in one insert: a second one would open all
 * indexes of the table once more. Trigger `event_enters_first_attempt` (0069): a pending event makes a row of `first_attempt`, which
 * `takeFirstAttempts` takes.
 */
const insertEventsOf = (sql: Transaction, isDelivered: boolean): Fragment => sql`
  insert into event (task_id, sequence, status, deliver, created_at, state, endpoint_id, subject_id)
  select id, last_sequence, status, ${isDelivered}::boolean, last_moved_at,
    case
      when not ${isDelivered}::boolean or webhook_url is null then 'unsent'
      when receiver_gone_at is not null then 'stopped'
      else 'pending'
    end, null::uuid, null::uuid
  from moved
  union all
  select chain_of(p.id, m.id), m.last_sequence, m.family || '_task.' || lower(m.status), true, m.last_moved_at,
    'pending', p.id, m.id
  from moved m
  join endpoint p on p.owner = m.owner and p.status = 'enabled'
    and m.family || '_task.' || lower(m.status) = any(p.events)
    and (p.labels = '{}' and p.kinds = '{}' or exists (
      select from task t
      where t.id = m.id and (p.kinds = '{}' or t.kind = any(p.kinds))
        and p.labels <@ array(select key || ':' || value from jsonb_each_text(${labelsOf(sql)}))
    ))
`

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
  /** Submissions to an upstream after the first: it had forgotten the task. */
  resubmissions: number
  /** Row of the template whose graph it keeps; null of the service's own kinds. */
  templateId: number | null
  output: Output | null
  claimedAt: Date
  /** Seconds since the first attempt claimed the task, without those for which it was put back. */
  age: number
  /** It alone tries whether its engine works again. */
  isProbe: boolean
}

export interface Claim {
  id: string
  family: TaskFamily
  /** Number of the admission that the run of its workflow has. */
  admission: number
}

/**
 * Claims a task for one attempt at rendering: a new fence, and at the first claim the move with its event. Nothing else
 * begins an attempt. A task that something blocks now is put back among the waiting tasks. Its time until the next
 * claim counts to no deadline of the service, and a task that had not begun gives its slot back. Undefined when the
 * task was not claimed: it waits, has ended, or was admitted again since.
 */
export const claimTask = async <Kind extends string>(
  sql: Transaction,
  { id, family, admission }: Claim,
): Promise<ClaimedTask<Kind> | undefined> => {
  const { words, unbegun, delivered } = FAMILIES[family]
  const { running } = words
  const isDelivered = delivered.includes(running)
  // Sent together, in this order: the claim sees the pauses that this lock keeps.
  const [, [claimed]] = await Promise.all([
    holdPauses(sql),
    sql<ClaimedTask<Kind>[]>`
    with open as (
      select t.id, t.claimed_at is null as is_first, task_block(t) as block,
        exists (select from breaker where probe_id = t.id) as "isProbe"
      from task t
      where id = ${id} and family = ${family} and status in (${running}, ${unbegun.at(-1) ?? ''})
        and waits_on is null and admission = ${admission}
      for update of t
    ), put_back as (
      update task
      set waits_on = block, waits_since = clock_timestamp(), rev = rev + 1,
        admitted_at = case when is_first then null else admitted_at end
      from open where task.id = open.id and block is not null
    ), continued as (
      update task set ${claim(sql)}
      from open where task.id = open.id and block is null and not is_first
      returning task.*, "isProbe"
    ), moved as (
      update task set ${claim(sql)}, status = ${running}, ${step(sql)}
      from open where task.id = open.id and block is null and is_first
      returning task.*, "isProbe"
    ), noted as (
      ${insertEventsOf(sql, isDelivered)}
    )
    select id, kind, settings, fence, upstream_id as "upstreamId", resubmissions, template_id as "templateId", output,
      claimed_at as "claimedAt", "isProbe",
      extract(epoch from clock_timestamp() - claimed_at)::float8 as age
    from (select * from moved union all select * from continued) claimed
  `.execute(),
  ])
  return claimed
}

/** Changes of each claim to the row of its task. */
const claim = (sql: Transaction): Fragment => sql`
  fence = fence + 1,
  attempts = case when jsonb_array_length(attempts) < 50
    then attempts || jsonb_build_object('n', fence + 1, 'at', clock_timestamp()) else attempts end,
  claimed_at = coalesce(
    claimed_at + coalesce(clock_timestamp() - waits_since, interval '0'),
    greatest(clock_timestamp(), last_moved_at)),
  waits_since = null
`

/** Puts a task back among the waiting tasks, for the attempt that holds the fence, which ends. */
export const putBack = async (
  sql: Sql,
  { id, fence, waitsOn }: { id: string; fence: number; waitsOn: string },
): Promise<void> => {
  await sql`
    update task set waits_on = ${waitsOn}, waits_since = clock_timestamp(), rev = rev + 1,
      attempts = ${endedAttempt(sql, PUT_BACK)}
    where id = ${id} and fence = ${fence} and ended_at is null and waits_on is null
  `
}
