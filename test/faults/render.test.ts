import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'

import { Client as TemporalClient, Connection } from '@temporalio/client'

import type { Client } from '../support/client.ts'
import type { Entry } from '../support/entry.ts'
import { base64 } from '../support/pictures.ts'
import { startService } from '../support/service.ts'
import type { Service } from '../support/service.ts'
import { temporalAddress } from '../support/stack.ts'
import { waitFor } from '../support/wait.ts'
import { CREATE, clientOf } from './calls.ts'
import { assertLedger } from './ledger.ts'
import { ageScratch, listScratch, untilSwept } from './scratch.ts'

describe('a render whose worker', () => {
  let service: Service
  let alice: Client
  let temporal: Connection
  const ids: string[] = []

  before(async () => {
    service = await startService({ env: { HEARTBEAT_SECONDS: '1' } })
    alice = await clientOf(service)
    temporal = await Connection.connect({ address: temporalAddress() })
  })
  after(async () => {
    await temporal.close()
    await service.stop()
  })

  /** Large enough that the engine is at it for a second or more. */
  const startLongTask = async (): Promise<string> => {
    const image = await base64({ width: 640, height: 480, format: 'jpeg' })
    const { body } = await alice.post(CREATE, { image, scale_factor: '4x' })
    ids.push(body.data.task_id)
    return body.data.task_id
  }

  /** Waits until the heartbeat of a task's attempt says that the engine is at work. */
  const untilRendering = async (id: string): Promise<void> => {
    const handle = new TemporalClient({ connection: temporal }).workflow.getHandle(
      `image-task/${id}`,
    )
    await waitFor(`${id} is in the engine`, async () => {
      // The answer to a creation does not wait for the start of its workflow.
      const found = await handle.describe().catch(() => undefined)
      const [payload] = found?.raw.pendingActivities?.[0]?.heartbeatDetails?.payloads ?? []
      return Buffer.from(payload?.data ?? [])
        .toString()
        .includes('"rendering"')
    })
  }

  const fenceOf = async (id: string): Promise<number> => {
    const [row] = await service.database.sql<{ fence: number }[]>`
      select fence from task where id = ${id}
    `
    return row?.fence ?? 0
  }

  test('is killed goes on with another one and leaves nothing behind', async () => {
    const id = await startLongTask()
    await untilRendering(id)
    await service.entry('media').kill()
    assert.ok((await listScratch(service)).length > 0)
    await ageScratch(service)
    await service.start('media')
    assert.equal((await alice.untilEnded('image-upscaler', id)).status, 'COMPLETED')
    assert.ok((await fenceOf(id)) > 1)
    await untilSwept(service)
  })

  test('stood still changes nothing once another one has taken over', async () => {
    const id = await startLongTask()
    await untilRendering(id)
    const stale = service.entry('media')
    stale.signal('SIGSTOP')
    const unfinished = await listScratch(service)
    await service.start('media')
    const ended = await alice.untilEnded('image-upscaler', id)
    assert.equal(ended.status, 'COMPLETED')
    const before = await readAll(id)
    await goOn(stale, unfinished)
    assert.deepEqual(await readAll(id), before)
  })

  test('is gone ends as cancelled, and the next worker does not render it', async () => {
    const id = await startLongTask()
    await untilRendering(id)
    await service.entry('media').kill()
    const cancelled = await alice.post(`${CREATE}/${id}/cancel`, {})
    assert.equal(cancelled.status, 200)
    await waitFor('its workflow has completed', async () => {
      const handle = new TemporalClient({ connection: temporal }).workflow.getHandle(
        `image-task/${id}`,
      )
      return (await handle.describe()).status.name === 'COMPLETED'
    })
    assert.equal(await fenceOf(id), 1)
    const tasks = await assertLedger(service, ids)
    assert.deepEqual(tasks.map(({ status, error_code }) => error_code ?? status).toSorted(), [
      'COMPLETED',
      'COMPLETED',
      'cancelled',
    ])
  })

  /** Row, events and files of a task. */
  const readAll = async (id: string): Promise<unknown> => ({
    rows: await service.database.sql`
      select to_jsonb(t) as task, (select jsonb_agg(to_jsonb(e)) from event e where e.task_id = t.id) as events
      from task t where t.id = ${id}
    `,
    files: (await service.listFiles()).filter((file) => file.includes(`results/${id}`)),
  })

  /** Lets a stopped worker go on until it has given its attempt up. */
  const goOn = async (entry: Entry, unfinished: string[]): Promise<void> => {
    entry.signal('SIGCONT')
    await waitFor('the stale attempt has ended', async () => {
      const left = await listScratch(service)
      return !unfinished.some((file) => left.includes(file))
    })
    await entry.kill()
  }
})
