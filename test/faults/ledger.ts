import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'

import { Client, Connection } from '@temporalio/client'

import { IMAGE_TASK_MOVES } from '../../src/domain/image-task/image-task.ts'
import { VIDEO_TASK_MOVES } from '../../src/domain/video-task/video-task.ts'
import type { Service } from '../support/service.ts'
import { waitFor } from '../support/wait.ts'

interface TaskRow {
  id: string
  family: 'image' | 'video'
  status: string
  error_code: string | null
  fence: number
  events: { sequence: number; status: string; at: string }[]
  results: { storage_key: string; sha256: string }[]
  thumbnail: string | null
}

/**
 * Waits until every task of the service has ended, then asserts what holds of each: the ids are the only tasks there
 * are, sequences are gapless, moves legal, times in order, one end; files are whole, and nothing else is left.
 */
export const assertLedger = async (
  service: Service,
  ids: string[],
  deadlineMs = 60_000,
): Promise<TaskRow[]> => {
  await waitFor('all tasks have ended', () => haveEnded(service), deadlineMs)
  const tasks = await readTasks(service)
  assert.deepEqual(tasks.map((task) => task.id).toSorted(), ids.toSorted())
  for (const task of tasks) assertEvents(task)
  await waitFor('only results are left', async () => await hasOnlyResults(service, tasks))
  for (const { results } of tasks)
    for (const { storage_key, sha256 } of results)
      assert.equal(await digest(join(service.storagePath, storage_key)), sha256)
  return tasks
}

/** Asserts that Temporal has exactly one workflow of each task, and that each one has ended well. */
export const assertWorkflows = async (
  service: Service,
  address: string,
  ids: string[],
  family: 'image' | 'video' = 'image',
): Promise<void> => {
  const connection = await Connection.connect({ address })
  try {
    const client = new Client({ connection })
    const mine = `TaskQueue = '${service.taskQueue}' and WorkflowType != 'deliverFirst'`
    await waitFor('every workflow has completed', async () => {
      const ended = await listWorkflows(client, `${mine} and ExecutionStatus = 'Completed'`)
      return ended.length >= ids.length
    })
    const all = await listWorkflows(client, mine)
    assert.deepEqual(all.toSorted(), ids.map((id) => `${family}-task/${id}`).toSorted())
  } finally {
    await connection.close()
  }
}

const listWorkflows = async (client: Client, query: string): Promise<string[]> => {
  const found: string[] = []
  for await (const { workflowId } of client.workflow.list({ query })) found.push(workflowId)
  return found
}

const haveEnded = async ({ database: { sql } }: Service): Promise<boolean> => {
  const open = await sql`select from task where ended_at is null`
    // A test that has just killed the server asks again.
    .catch(() => [undefined])
  return open.length === 0
}

const readTasks = async ({ database: { sql } }: Service): Promise<TaskRow[]> =>
  await sql`
  select t.id, t.family, t.status, t.error_code, t.fence, t.thumbnail,
    (
      select jsonb_agg(
        jsonb_build_object('sequence', e.sequence, 'status', e.status, 'at', e.created_at)
        order by e.sequence
      )
      from event e where e.task_id = t.id
    ) as events,
    coalesce((
      select jsonb_agg(jsonb_build_object('storage_key', r.storage_key, 'sha256', r.sha256))
      from task_result r where r.task_id = t.id
    ), '[]') as results
  from task t
`

const MOVES: Record<TaskRow['family'], Record<string, readonly string[]>> = {
  image: { CREATED: [], ...IMAGE_TASK_MOVES },
  video: { created: [], ...VIDEO_TASK_MOVES },
}
const ENDS = new Set(['COMPLETED', 'FAILED', 'success', 'failed'])

const assertEvents = ({ id, family, status, events, results, thumbnail }: TaskRow): void => {
  const moves = MOVES[family]
  events.forEach((event, index) => {
    const before = events[index - 1]
    assert.equal(event.sequence, index + 1, `sequence of ${id}`)
    assert.ok(before === undefined || moves[event.status]?.includes(before.status), event.status)
    assert.ok(before === undefined || before.at <= event.at, `time of ${id}`)
  })
  assert.equal(events[0]?.status.toLowerCase(), 'created')
  assert.equal(events.at(-1)?.status, status)
  assert.equal(events.filter((event) => ENDS.has(event.status)).length, 1)
  const made = { COMPLETED: 1, success: 2 }[status] ?? 0
  assert.equal(results.length, made, `results of ${id}`)
  assert.equal(thumbnail !== null, made > 0, `thumbnail of ${id}`)
}

/** Asserts that every video task was charged once, given back exactly when it failed, and that the sums of the owners agree. */
export const assertCredits = async ({ database: { sql } }: Service): Promise<void> => {
  const wrong = await sql`
    select t.id from task t
    where t.family = 'video' and (
      (select array_agg(kind order by kind) from ledger l where l.task_id = t.id and l.credits = t.credits)
      is distinct from case t.status when 'failed' then array['charge', 'refund'] else array['charge'] end
    )
  `
  assert.deepEqual([...wrong], [])
  const owners = await sql`
    select o.id from owner o
    where o.credits_used <> (
      select coalesce(sum(case kind when 'charge' then credits else -credits end), 0)
      from ledger l where l.owner = o.id
    )
  `
  assert.deepEqual([...owners], [])
}

const hasOnlyResults = async (service: Service, tasks: TaskRow[]): Promise<boolean> => {
  const files = (await service.listFiles()).map((file) => relative(service.storagePath, file))
  const expected = tasks.flatMap(({ results, thumbnail }) => [
    ...results.map((result) => result.storage_key),
    ...(thumbnail === null ? [] : [thumbnail]),
  ])
  const found = files.filter((file) => file.startsWith('results/'))
  return found.toSorted().join() === expected.toSorted().join()
}

const digest = async (path: string): Promise<string> =>
  createHash('sha256')
    .update(await readFile(path))
    .digest('hex')
