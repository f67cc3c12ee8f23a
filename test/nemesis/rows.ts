import { readFile } from 'node:fs/promises'
import { relative } from 'node:path'

import { Client, type Connection, type WorkflowExecutionInfo } from '@temporalio/client'

import { noEntry } from '../../src/platform/storage/files.ts'
import type { Sql } from '../../src/platform/db/client.ts'
import { sha256Of } from '../support/digest.ts'
import type { Service } from '../support/service.ts'

export interface TaskRow {
  id: string
  family: 'image' | 'video'
  status: string
  error_code: string | null
  fence: number
  admission: number
  owner: string
  credits: number
  events: EventRow[]
  results: { storageKey: string; sha256: string }[]
  thumbnail: string | null
  kind: string
  engine: string
  prompt: string | null
  labels: Record<string, string> | null
  isDeleted: boolean
  /** True once its files are gone. */
  isPurged: boolean
  /** Unix milliseconds. */
  createdAt: number
  /** When its attempts began, when it was given its slot and when it ended, in Unix milliseconds. */
  attempts: number[]
  admittedAt: number | null
  endedAt: number | null
  /** Kinds and credits of its rows in the ledger. */
  ledger: { kind: string; credits: number }[]
}

export interface EventRow {
  id: string
  sequence: number
  status: string
  /** Unix milliseconds. */
  at: number
  deliver: boolean
  state: string
}

export interface VersionRow {
  id: string
  key: string
  status: string
  storageKey: string | null
  sha256: string | null
  moves: { from: string | null; to: string }[]
  extraction: string | null
}

/** Rows of the service and files of its store: the ledger of the rows. */
export type Rows = Awaited<ReturnType<typeof readRows>>

export const readTasks = async (sql: Sql): Promise<TaskRow[]> =>
  await sql<TaskRow[]>`
  select t.id, t.family, t.status, t.error_code, t.fence, t.admission, t.owner, t.credits, t.thumbnail, t.kind, t.engine,
    t.settings->>'prompt' as prompt, t.labels, t.delete_requested_at is not null as "isDeleted",
    t.purged_at is not null as "isPurged",
    extract(epoch from t.created_at)::float8 * 1000 as "createdAt",
    to_jsonb(array(select extract(epoch from (a->>'at')::timestamptz)::float8 * 1000
      from jsonb_array_elements(t.attempts) a)) as attempts,
    extract(epoch from t.admitted_at)::float8 * 1000 as "admittedAt",
    extract(epoch from t.ended_at)::float8 * 1000 as "endedAt",
    (
      select jsonb_agg(jsonb_build_object('id', e.id, 'sequence', e.sequence, 'status', e.status,
        'at', extract(epoch from e.created_at) * 1000, 'deliver', e.deliver, 'state', e.state)
        order by e.sequence)
      from event e where e.task_id = t.id
    ) as events,
    coalesce((
      select jsonb_agg(jsonb_build_object('storageKey', r.storage_key, 'sha256', r.sha256))
      from task_result r where r.task_id = t.id
    ), '[]') as results,
    coalesce((
      select jsonb_agg(jsonb_build_object('kind', l.kind, 'credits', l.credits) order by l.kind)
      from ledger l where l.task_id = t.id
    ), '[]') as ledger
  from task t
`

const readVersions = async (sql: Sql): Promise<VersionRow[]> =>
  await sql<VersionRow[]>`
  select v.id, v.node_id as key, v.status, a.storage_key as "storageKey", a.sha256,
    v.host_node_extract_status as extraction,
    (
      select jsonb_agg(jsonb_build_object('from', from_status, 'to', to_status) order by m.at, m.id)
      from version_transition m where m.version_id = v.id
    ) as moves
  from version v left join archive a on a.version_id = v.id
`

/** Owners whose sums are not those of their rows in the ledger, or whose bytes are not those of their tasks and uploads. */
export const listWrongSums = async (sql: Sql): Promise<string[]> => {
  const owners = await sql<{ id: string }[]>`
    select o.id from owner o
    where o.credits_used <> (
      select coalesce(sum(case kind when 'charge' then credits else -credits end), 0)
      from ledger l where l.owner = o.id
    ) or o.stored_bytes <> (
      select coalesce(sum(held.stored_bytes), 0) from (
        select stored_bytes from task
        where coalesce(account, owner) = o.id and purged_at is null
        union all
        select stored_bytes from upload where owner = o.id and purged_at is null
      ) held
    )
  `
  return owners.map(({ id }) => id)
}

/** Owners whose usage is not that of their ended tasks. A release before this report counted none. */
const listWrongUsage = async (sql: Sql): Promise<string[]> => {
  const owners = await sql<{ owner: string }[]>`
    select coalesce(used.owner, t.owner) as owner
    from (
      select owner, sum(done) as done, sum(failed) as failed, sum(cancelled) as cancelled,
        sum(credits) as credits
      from usage where key = '' group by owner
    ) used
    full join (
      select owner, count(*) filter (where task_state(status, error_code) = 'done') as done,
        count(*) filter (where task_state(status, error_code) = 'failed') as failed,
        count(*) filter (where task_state(status, error_code) = 'cancelled') as cancelled,
        sum(case when status = 'failed' then 0 else credits end) as credits
      from task where ended_at is not null group by owner
    ) t using (owner)
    where (used.done, used.failed, used.cancelled, used.credits)
      is distinct from (t.done, t.failed, t.cancelled, t.credits)
  `
  return owners.map(({ owner }) => owner)
}

/** Service that has written the rows. */
export interface Written {
  service: Service
  temporal: { connection: Connection }
}

export const readRows = async (world: Written) => {
  const { sql } = world.service.database
  return {
    tasks: await readTasks(sql),
    versions: await readVersions(sql),
    wrongSums: [...(await listWrongSums(sql)), ...(await listWrongUsage(sql))],
    /** Digests of the files by key. */
    files: await readFiles(world),
    /** Number of workflows of each id. */
    workflows: await countWorkflows(world),
  }
}

export const readFiles = async ({ service }: Pick<Written, 'service'>) => {
  const files = new Map<string, string>()
  for (const path of await service.listFiles()) {
    const key = relative(service.storagePath, path)
    // One that is cleaned up meanwhile is gone.
    const bytes = key.startsWith('.') ? undefined : await readFile(path).catch(noEntry)
    if (bytes) files.set(key, sha256Of(bytes))
  }
  return files
}

const listWorkflows = ({ temporal, service }: Written) =>
  new Client({ connection: temporal.connection }).workflow.list({
    query: `TaskQueue = '${service.taskQueue}'`,
  })

export const countWorkflows = async (world: Written): Promise<ReadonlyMap<string, number>> => {
  const counts = new Map<string, number>()
  for await (const { workflowId } of listWorkflows(world))
    counts.set(workflowId, (counts.get(workflowId) ?? 0) + 1)
  return counts
}

/** It takes half a minute to read these. */
const MAX_HISTORIES = 2000
const AT_ONCE = 10

/** Reads the newest histories in Temporal, one text for each workflow. */
export const readHistories = async (world: Written): Promise<string[]> => {
  const found: WorkflowExecutionInfo[] = []
  for await (const info of listWorkflows(world)) if (found.push(info) === MAX_HISTORIES) break
  const { workflow } = new Client({ connection: world.temporal.connection })
  const texts: string[] = []
  while (found.length > 0) {
    const handles = found
      .splice(0, AT_ONCE)
      .map((one) => workflow.getHandle(one.workflowId, one.runId))
    const histories = await Promise.all(handles.map((handle) => handle.fetchHistory()))
    texts.push(...histories.map((history) => [...textsOf(history)].join('\n')))
  }
  return texts
}

const textsOf = function* (value: unknown): Generator<string> {
  if (typeof value === 'string') yield value
  else if (value instanceof Uint8Array) yield Buffer.from(value).toString()
  else if (typeof value === 'object' && value !== null)
    for (const part of Object.values(value)) yield* textsOf(part)
}
