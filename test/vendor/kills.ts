import assert from 'node:assert/strict'

import { Client as TemporalClient, Connection } from '@temporalio/client'

import { CREATE, clientOf, createTask } from '../faults/calls.ts'
import { assertLedger } from '../faults/ledger.ts'
import { VIDEO_API } from '../support/client.ts'
import type { Client } from '../support/client.ts'
import { temporalAddress } from '../support/stack.ts'
import { waitFor } from '../support/wait.ts'
import { assertOneEach, NOBODY } from './pair.ts'
import type { Pair } from './pair.ts'

const LINES = [
  'upstream.before-submit',
  'upstream.after-response',
  'upstream.after-store',
  'upstream.between-polls',
  'upstream.while-copying',
  'render.after-output',
]

const createVideo = async (client: Client): Promise<string> => {
  const { status, body } = await client.post(`${VIDEO_API}/text2video`, { prompt: 'ocean' })
  assert.equal(status, 200)
  return String(body['task_id'])
}

/** Kills a worker of the near one at each line, and processes of the far one while they have the task. */
export const killAtEachLine = async (pair: Pair, say: (line: string) => void): Promise<void> => {
  const { near, far } = pair
  const client = await clientOf(near)
  const ids: string[] = []
  const checkTasks = async (what: string): Promise<void> => {
    const tasks = await assertLedger(near, ids)
    const failed = tasks.filter(({ error_code: code }) => code !== null)
    assert.deepEqual(failed, [])
    await assertOneEach(pair)
    say(`  ${what}: ok, ${ids.length} tasks`)
  }
  for (const create of [createTask, createVideo])
    for (const FAILPOINT of LINES) {
      await near.entry('core').kill()
      const doomed = await near.start('core', { OVERRIDE_FAILPOINT: FAILPOINT })
      ids.push(await create(client))
      assert.equal(await doomed.end(), 'SIGKILL')
      await near.start('core')
      await checkTasks(`${create.name}, near core at ${FAILPOINT}`)
    }
  for (const FAILPOINT of ['create.before-commit', 'create.after-commit', 'create.after-start']) {
    await far.entry('api').kill()
    const doomed = await far.start('api', { OVERRIDE_FAILPOINT: FAILPOINT })
    ids.push(await createTask(client))
    assert.equal(await doomed.end(), 'SIGKILL')
    await far.start('api')
    await checkTasks(`far api at ${FAILPOINT}`)
  }
  await assertSecret(pair)
  say('  the key: nowhere')
}

/** Lines of a task that is sent again; the second submission of the same worker is that. */
const FORGETTING = [
  'upstream.before-forget',
  'upstream.after-forget',
  'upstream.before-submit:2',
  'upstream.after-response:2',
  'upstream.after-store:2',
]

/** Kills a worker of the near one at each line, after the far one has forgotten its task. */
export const forgetAtEachLine = async (pair: Pair, say: (line: string) => void): Promise<void> => {
  const { near, far } = pair
  const client = await clientOf(near)
  const ids: string[] = []
  for (const create of [createTask, createVideo])
    for (const FAILPOINT of FORGETTING) {
      await far.entry('media').kill()
      await near.entry('core').kill()
      const doomed = await near.start('core', { OVERRIDE_FAILPOINT: FAILPOINT })
      const id = await create(client)
      ids.push(id)
      const first = await waitForUpstreamId(near, id)
      await far.database.sql`update task set owner = ${NOBODY} where id = ${first}`
      assert.equal(await doomed.end(), 'SIGKILL')
      await near.start('core')
      await far.start('media')
      const failed = (await assertLedger(near, ids)).filter(({ error_code: code }) => code !== null)
      assert.deepEqual(failed, [])
      const [row] = await near.database.sql`select resubmissions from task where id = ${id}`
      assert.equal(row?.['resubmissions'], 1)
      await assertOneEach(pair)
      say(`  ${create.name}, forgotten, near core at ${FAILPOINT}: ok`)
    }
}

const waitForUpstreamId = (near: Pair['near'], id: string): Promise<string> =>
  waitFor('the far one has the task', async () => {
    const [row] = await near.database.sql`select upstream_id from task where id = ${id}`
    return (row?.['upstream_id'] as string | null) ?? undefined
  })

/** Switches the engine under open tasks, and cancels one that is away. */
export const changeUnderway = async (pair: Pair, say: (line: string) => void): Promise<void> => {
  const client = await clientOf(pair.near)
  await assertLedger(pair.near, await switchEngines(pair, client))
  await assertOneEach(pair)
  say('  the engine switched to and fro under open tasks: ok')
  await cancelAway(pair, client)
  await assertSecret(pair)
  say('  a cancel: passed on')
}

/** Has an open task of each engine while the setting changes twice. */
const switchEngines = async ({ near, far }: Pair, client: Client): Promise<string[]> => {
  const setEngine = async (IMAGE_ENGINE: string): Promise<void> => {
    await near.entry('api').kill()
    await near.start('api', { IMAGE_ENGINE })
  }
  await far.entry('media').kill()
  const away = await createTask(client)
  await setEngine('local')
  const local = await createTask(client)
  await setEngine('vendor')
  await near.start('media')
  await far.start('media')
  return [away, local]
}

/** A task that nobody renders there is cancelled there when it is cancelled here. */
const cancelAway = async ({ near, far }: Pair, client: Client): Promise<void> => {
  await far.entry('media').kill()
  const id = await createTask(client)
  const upstreamId = await waitForUpstreamId(near, id)
  assert.equal((await client.post(`${CREATE}/${id}/cancel`, {})).status, 200)
  await waitFor('the far one has cancelled it', async () => {
    const [row] = await far.database.sql`select error_code from task where id = ${upstreamId}`
    return row?.['error_code'] === 'cancelled'
  })
}

/** Asserts that the key at the far one is in no log, row or history of the near one. */
const assertSecret = async ({ near, key }: Pair): Promise<void> => {
  const { sql } = near.database
  const rows = await sql`
    select to_jsonb(t)::text as text from task t
    union all select to_jsonb(e)::text from event e
    union all select to_jsonb(o)::text from outbox o
  `
  const connection = await Connection.connect({ address: temporalAddress() })
  const { workflow } = new TemporalClient({ connection })
  const histories: string[] = []
  for await (const { workflowId } of workflow.list({ query: `TaskQueue = '${near.taskQueue}'` }))
    histories.push(JSON.stringify(await workflow.getHandle(workflowId).fetchHistory()))
  await connection.close()
  const logs = [near.entry('core'), near.entry('api')].flatMap(({ log }) => log)
  for (const text of [...rows.map((row) => String(row['text'])), ...histories, ...logs])
    assert.ok(!text.includes(key), text.slice(0, 200))
  assert.ok(histories.length > 0 && rows.length > 0 && logs.length > 0)
}
