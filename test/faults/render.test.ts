import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import type { Entry } from '../support/entry.ts'
import { makePicture } from '../support/pictures.ts'
import { useWebhookReceiver } from '../support/receiver.ts'
import { useService } from '../support/service.ts'
import { waitFor } from '../support/wait.ts'
import { CREATE, HEARTBEAT, createTask } from './calls.ts'
import { assertLedger } from './ledger.ts'
import { ageScratch, listScratch, untilCleaned } from './scratch.ts'
import { openTemporal } from '../support/temporal-client.ts'

describe('a render whose worker', () => {
  const receiver = useWebhookReceiver()
  const service = useService({ env: HEARTBEAT })
  const alice = service.client('alice')
  const ids: string[] = []

  /**
   * Creates a task whose image stops in the middle when it is fetched first, until `release`: the attempt lasts as long.
   * Waits until it has begun.
   */
  const startHeld = async (): Promise<{ id: string; release: () => void }> => {
    const path = `/${ids.length}.png`
    const image = await makePicture()
    const head = { 'content-type': 'image/png', 'content-length': image.length }
    let release = (): void => {}
    receiver.script(path, ({ response, earlier }) => {
      response.writeHead(200, head).write(image.subarray(0, 9))
      release = () => void response.end(image.subarray(9))
      if (earlier > 0) release()
    })
    const id = await createTask(alice, { image: receiver.url(path) })
    ids.push(id)
    await waitFor('a part has come', async () => (await listUnfinished(id)).length > 0)
    return { id, release }
  }

  const listUnfinished = async (id: string): Promise<string[]> =>
    (await listScratch(service)).filter((path) => path.includes(id))

  const fenceOf = async (id: string): Promise<number> => {
    const [row] = await service.sql<{ fence: number }[]>`select fence from task where id = ${id}`
    return row?.fence ?? 0
  }

  test('is killed goes on with another one and leaves nothing behind', async () => {
    const { id } = await startHeld()
    await service.entry('media').kill()
    assert.ok((await listUnfinished(id)).length > 0)
    await ageScratch(service)
    await service.start('media')
    assert.equal((await alice.untilEnded('image-upscaler', id)).status, 'COMPLETED')
    assert.ok((await fenceOf(id)) > 1)
    await untilCleaned(service)
  })

  test('stood still changes nothing once another one has taken over', async () => {
    const { id, release } = await startHeld()
    const stale = service.entry('media')
    stale.signal('SIGSTOP')
    const unfinished = await listUnfinished(id)
    await service.start('media')
    const ended = await alice.untilEnded('image-upscaler', id)
    assert.equal(ended.status, 'COMPLETED')
    const before = await readAll(id)
    release()
    await goOn(stale, unfinished)
    assert.deepEqual(await readAll(id), before)
  })

  test('is gone ends as cancelled, and the next worker does not render it', async (t) => {
    const { id } = await startHeld()
    await service.entry('media').kill()
    const fence = await fenceOf(id)
    const cancelled = await alice.post(`${CREATE}/${id}/cancel`, {})
    assert.equal(cancelled.status, 200)
    const { workflow } = await openTemporal(t)
    const handle = workflow.getHandle(`image-task/${id}`)
    const readStatus = async () => (await handle.describe()).status.name
    await waitFor('its workflow has completed', async () => (await readStatus()) === 'COMPLETED')
    assert.equal(await fenceOf(id), fence)
    const tasks = await assertLedger(service, ids)
    const ends = tasks.map(({ status, error_code }) => error_code ?? status)
    assert.deepEqual(ends.toSorted(), ['COMPLETED', 'COMPLETED', 'cancelled'])
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
