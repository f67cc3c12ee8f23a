import { randomUUID } from 'node:crypto'

import type { Fragment, Sql, Transaction } from '../../src/platform/db/client.ts'
import type { OutboxStart } from '../../src/platform/db/outbox.ts'
import type { Enqueue } from '../../src/platform/db/unit-of-work.ts'
import type { AccountLimits } from '../../src/tasks/db/account.ts'
import { admitOwner } from '../../src/tasks/db/admission.ts'
import { endTask } from '../../src/tasks/db/end-task.ts'
import { insertTask, type NewTask } from '../../src/tasks/db/insert-task.ts'
import { insertTaskResults, type NewTaskInput } from '../../src/tasks/db/task-file.ts'
import { claimTask } from '../../src/tasks/db/task-transition.ts'
import { insertCreation } from '../../src/tasks/db/video/creation.ts'
import { IMAGE_KINDS, type ImageTaskKind } from '../../src/tasks/domain/image/image-kind.ts'
import { FAMILIES } from '../../src/tasks/domain/family.ts'
import type { TaskOptions } from '../../src/tasks/domain/task-options.ts'
import type { TaskState } from '../../src/tasks/domain/task-item.ts'
import type { TaskFamily } from '../../src/platform/domain/task-scope.ts'
import { applyTextToVideoDefaults } from '../../src/tasks/domain/video/video-defaults.ts'
import { VideoTaskKind, videoSegment } from '../../src/tasks/domain/video/video-task.ts'

/** A new task of either family; the members that are absent are those of a small task of alice. */
export interface TaskRow extends Partial<Omit<NewTask, 'options' | 'kind' | 'inputs'>> {
  options?: Partial<TaskOptions>
  kind?: ImageTaskKind | VideoTaskKind
  inputs?: readonly (Partial<NewTaskInput> & { field: string })[]
}

const familyOf = (kind: string): TaskFamily =>
  VideoTaskKind.enum.some((each) => each === kind) ? 'video' : 'image'

/** Inserts a task as its creation does; returns its id. */
export const insertNewTask = async (
  sql: Transaction,
  { id = randomUUID(), kind = 'upscale', owner = 'alice', inputs = [], ...given }: TaskRow = {},
  limits: AccountLimits = {},
): Promise<string> => {
  const family = familyOf(kind)
  const facts =
    family === 'video'
      ? { segment: videoSegment(kind as VideoTaskKind), settings: VIDEO_SETTINGS, credits: 10 }
      : { segment: IMAGE_KINDS[kind as ImageTaskKind].segment, settings: {} }
  const task = { ...facts, webhookUrl: null, account: owner, ...given, id, family, kind, owner }
  const options = { ...NO_OPTIONS, ...given.options }
  const files = inputs.map((input) => ({ ...NO_INPUT, ...input }))
  await insertTask(sql, { ...task, options, inputs: files }, limits)
  return id
}

const NO_INPUT: Omit<NewTaskInput, 'field'> = {
  name: null,
  storageKey: null,
  url: null,
  contentType: null,
  bytes: null,
  sha256: null,
  width: null,
  height: null,
  frames: null,
}

const NO_OPTIONS: TaskOptions = {
  labels: null,
  priority: 0,
  startWithin: null,
  endWithin: null,
  retentionSeconds: null,
  output: null,
  startAfter: null,
}

const VIDEO_SETTINGS = applyTextToVideoDefaults({ model: 'videoq1', prompt: 'ocean' }, () => 0.5)

export interface TaskRows extends TaskRow {
  state: TaskState
  /** Why a waiting one may not begin: another of its account has its turn, or its owner has no free slot. */
  waitsOn?: string
  /** Names of the files of a done one, which are nowhere. None: a task whose files were removed by age. */
  files?: readonly string[]
}

export interface Copies {
  count?: number
  /** Number of the first one, and from one to the next. */
  first?: number
  step?: number
  /** Columns of the tasks, by expressions of their number `n`. Other times keep their distance from `created_at`. */
  columns?: Readonly<Record<string, Fragment>>
  /** Columns of their events, by expressions of an event `e`, which is JSON. */
  events?: Readonly<Record<string, Fragment>>
}

/**
 * Inserts any number of tasks in one state: copies of one that the service's own functions have brought there, with their
 * events, files and charges. No trigger sees them: nothing starts them, and nothing counts their use but their accounts.
 * Returns their ids.
 */
export const insertTasks = async (
  sql: Sql,
  { owner = 'alice', account = owner, ...given }: TaskRows & Copies,
): Promise<string[]> => {
  const { count = 1, first = 1, step = 1, events = {}, ...task } = given
  const accounts = 'owner' in (given.columns ?? {}) ? {} : { account: sql`${account}::text` }
  const columns = { owner: sql`${owner}::text`, ...accounts, ...given.columns }
  const model = await readModel(sql, task)
  const ids: string[] = []
  while (ids.length < count) {
    const from = first + ids.length * step
    const to = from + (Math.min(count - ids.length, ROWS) - 1) * step
    const numbers = sql`generate_series(${from}::integer, ${to}::integer, ${step}::integer) n`
    ids.push(...(await copy(sql, model, { numbers, columns, events })))
  }
  // As the server does by itself, a minute later: without it a pass over 300 accounts took 34 seconds.
  if (count >= MANY) await sql`analyze task`
  return ids
}

/** Tasks of one transaction. */
const ROWS = 10_000
/** So many tasks make statistics of an empty table wrong. */
const MANY = 100

/** Tables whose rows belong to one task. */
const TABLES = ['event', 'task_input', 'task_result', 'creation', 'ledger'] as const

/** Columns of a task that move with its `created_at`. */
const TIMES = [
  'created_at',
  'last_moved_at',
  'admitted_at',
  'claimed_at',
  'ended_at',
  'purge_at',
  'start_by',
  'end_by',
  'off_peak_by',
]

/** The row of a task, and those that belong to it, as JSON. */
type Model = Record<'task' | (typeof TABLES)[number], never>

/** Makes a task, which nothing blocks, in a transaction that never commits, and reads its rows. */
const readModel = async (sql: Sql, task: TaskRows): Promise<Model> => {
  const model: Partial<Model> = {}
  const rolledBack = new Error('the model has been read')
  const read = sql.begin(async (sql) => {
    await sql`delete from pause`
    await sql`delete from breaker`
    const owner = randomUUID()
    const id = await insertNewTask(sql, { ...task, owner })
    // It is charged now, and not at the commit.
    await sql`set constraints all immediate`
    await bringTo(sql, id, { ...task, owner })
    for (const table of ['task', ...TABLES] as const) {
      const [row] = await sql<[{ rows: never }]>`
        select coalesce(jsonb_agg(to_jsonb(r)), '[]') as rows
        from ${sql(table)} r where ${sql(table === 'task' ? 'id' : 'task_id')} = ${id}
      `
      model[table] = row.rows
    }
    throw rolledBack
  })
  await read.catch((error: unknown) => {
    if (error !== rolledBack) throw error
  })
  return model as Model
}

/** Brings a new task to a state, as the service does. */
const bringTo = async (
  sql: Transaction,
  id: string,
  {
    state,
    kind = 'upscale',
    owner,
    waitsOn,
    files = ['result-1.png'],
  }: TaskRows & { owner: string },
): Promise<void> => {
  const family = familyOf(kind)
  const rules = { ...UNNOTIFIED, slots: 1_000_000 }
  if (state === 'waiting') {
    const reason = waitsOn ?? (family === 'video' ? 'slot' : 'turn')
    await sql`update task set waits_on = ${reason}, admission = 0 where id = ${id}`
    return
  }
  if (family === 'video') await admitOwner(sql, { ...rules, owner })
  if (state === 'queued') return
  if (state !== 'cancelled') await claimTask(sql, { id, family, admission: 1 })
  if (state === 'running') return
  const contentType = family === 'video' ? 'video/mp4' : 'image/png'
  const facts = { contentType, bytes: 1, sha256: 'x', width: 64, height: 36 }
  const results = files.map((name) => ({ ...facts, name, storageKey: `results/${id}/1/${name}` }))
  const record = async (): Promise<void> => {
    if (results.length > 0) await insertTaskResults(sql, id, { results })
    if (family === 'video')
      await insertCreation(sql, id, {
        name: 'video.mp4',
        seconds: 5.5,
        fps: 24,
        width: 64,
        height: 36,
      })
  }
  const error = FAMILIES[family].toError(state === 'failed' ? 'engine_failed' : 'cancelled')
  const end =
    state === 'done' ? ({ to: 'done', record } as const) : ({ to: 'failed', error } as const)
  await endTask(sql, { id, family, ...end }, rules)
}

/** Enqueues and logs nothing. */
export const enqueueNothing: Enqueue = Object.assign(() => Promise.resolve(), { line: () => {} })

/** Rules of an end after which nothing starts. */
const UNNOTIFIED = {
  slots: 0,
  startOf: () => ({}) as OutboxStart,
  enqueue: enqueueNothing,
}

/** Cancels tasks, or all that are open, whatever they are at. Nothing starts in their place. */
export const cancelTasks = async (sql: Sql, ids?: readonly string[]): Promise<void> => {
  const tasks = await sql<{ id: string; family: TaskFamily }[]>`
    select id, family from task
    where ended_at is null ${ids ? sql`and id = any(${[...ids]}::uuid[])` : sql``}
  `
  const cancel = async ({ id, family }: (typeof tasks)[number]) => {
    const error = FAMILIES[family].toError('cancelled')
    await sql.begin((sql) => endTask(sql, { id, family, to: 'failed', error }, UNNOTIFIED))
  }
  await Promise.all(tasks.map(cancel))
}

interface Numbered extends Required<Pick<Copies, 'columns' | 'events'>> {
  /** A `from` item that has the numbers as `n`. */
  numbers: Fragment
}

const copy = async (sql: Sql, rows: Model, { numbers, columns, events }: Numbered) =>
  await sql.begin(async (sql) => {
    await sql`set local session_replication_role = replica`
    const json = (name: keyof Model): Fragment => sql`${sql.json(rows[name])}::jsonb`
    const model = sql`jsonb_populate_record(null::task, ${json('task')}->0) m`
    const changes = (of: Readonly<Record<string, Fragment>>): Fragment =>
      Object.entries(of).reduce(
        (all, [name, value]) => sql`${all} || jsonb_build_object(${name}::text, ${value})`,
        sql`'{}'::jsonb`,
      )
    const times = Object.fromEntries(
      TIMES.map((name) => [name, sql`at + (m.${sql(name)} - m.created_at)`]),
    )
    const children = TABLES.reduce(
      (all, table) => sql`${all}, ${sql(`new_${table}`)} as (
        insert into ${sql(table)}
        select r.*
        from made, ${model}, jsonb_array_elements(${json(table)}) e, jsonb_populate_record(null::${sql(table)},
          e || jsonb_build_object('id', gen_random_uuid(), 'task_id', made.id, 'owner', made.account,
            'storage_key', replace(e->>'storage_key', m.id::text, made.id::text),
            'created_at', made.created_at + ((e->>'created_at')::timestamptz - m.created_at))
          || ${changes(table === 'event' ? events : {})}) r
        returning *
      )`,
      sql``,
    )
    const inserted = await sql<{ id: string }[]>`
      with made as (
        insert into task
        select r.*
        from ${model}, ${numbers}, lateral (select ${changes(columns)} as own) given,
          lateral (select n, gen_random_uuid() as id, own->>'owner' as owner,
            coalesce((own->>'created_at')::timestamptz, clock_timestamp()) as at) made,
          jsonb_populate_record(m, jsonb_build_object(
            'id', made.id, 'owner', made.owner,
            'account', made.owner,
            'labels', m.labels || jsonb_build_object('', made.owner),
            'attempts', case when m.claimed_at is null then m.attempts else jsonb_build_array(
              m.attempts->0 || jsonb_build_object('at', at + (m.claimed_at - m.created_at))) end
          ) || ${changes(times)} || own) r
        returning *
      ) ${children}, new_first_attempt as (
        insert into first_attempt (event_id, task_id, sequence, account, host)
        select e.id, e.task_id, e.sequence, made.account, host_of(made.webhook_url)
        from new_event e join made on made.id = e.task_id
        where e.state = 'pending' and e.failures = 0
      ), new_owner as (
        insert into owner as o (id, credits_used, stored_bytes)
        select account, coalesce(sum(credits) filter (where status <> 'failed'), 0), sum(stored_bytes)
        from made group by account
        on conflict (id) do update set credits_used = o.credits_used + excluded.credits_used,
          stored_bytes = o.stored_bytes + excluded.stored_bytes
      )
      select id from made
    `
    return inserted.map(({ id }) => id)
  })
