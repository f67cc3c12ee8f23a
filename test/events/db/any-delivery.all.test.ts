import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'

import { insertRedelivery } from '../../../src/events/db/redelivery.ts'
import type { Sql } from '../../../src/platform/db/client.ts'
import { failVideoTask, type NewVideo } from '../../tasks/activities/video-place.ts'
import { deliveryWorkflowId, startRedelivery } from '../../../src/events/temporal/start-delivery.ts'
import { makeCommands } from '../../../src/operate/commands.ts'
import { admitOwner } from '../../../src/tasks/db/admission.ts'
import { unitOfWork } from '../../../src/platform/db/unit-of-work.ts'
import { untilStatus, useStage } from '../activities/video-stage.ts'
import { respond, hang, inTurn, useWebhookReceiver, type Reply } from '../../support/receiver.ts'
import { waitFor } from '../../support/wait.ts'
import { AUDIT } from '../../registry/db/registry-place.ts'
import { eventOf, listStates, redeliver } from './notified-task.ts'

const NEXT_HOUR = respond(503, { 'retry-after': '3600' })
const ERROR = { code: 'InternalServiceFailure', message: 'over' } as const

describe('the delivery of the events of a video task', () => {
  const stage = useStage()
  const receiver = useWebhookReceiver()
  let sql: Sql
  let commands: ReturnType<typeof makeCommands>
  before(() => {
    sql = stage.place.deps.sql
    commands = makeCommands({ ...stage.options, audit: AUDIT })
  })

  let paths = 0
  const create = async (
    reply: Reply,
    given: NewVideo & { quiet?: boolean; lost?: boolean } = {},
  ): Promise<{ id: string; path: string }> => {
    const path = `/hook-${(paths += 1)}?token=canary`
    receiver.script(path, reply)
    const owner = `owner-${paths}`
    return { path, id: await stage.create({ owner, webhookUrl: receiver.url(path), ...given }) }
  }
  /** Creates a task that is put back from its queue until it is released, so that its first event is not overtaken. */
  const createQueued = async (reply: Reply) => {
    const owner = `queued-${paths}`
    const task = await create(reply, { owner, lost: true })
    await sql`update task set waits_on = 'turn' where id = ${task.id}`
    const release = async () => {
      await unitOfWork(stage.options, (sql, enqueue) =>
        admitOwner(sql, { ...stage.options, owner, enqueue }),
      )
      await stage.untilRendering(task.id)
      stage.release(task.id)
    }
    return { ...task, release }
  }
  /** Lists the states that were delivered to a path, in the order they came. */
  const statesAt = (path: string): string[] =>
    receiver.of(path).map(({ body }) => (JSON.parse(body.toString()) as { state: string }).state)
  const untilNotified = (path: string, ...states: string[]): Promise<boolean> =>
    waitFor(`${states.join()} at ${path}`, () =>
      states.every((state) => statesAt(path).includes(state)),
    )
  const untilState = (id: string, state: string): Promise<boolean> =>
    waitFor(`${id} has ${state}`, async () => (await listStates(sql, id)).includes(state))
  const untilClosed = (id: string): Promise<boolean> =>
    waitFor(`the delivery of ${id} has ended`, async () => {
      const settled = await sql`
        select from task where id = ${id} and ended_at is not null
          and not exists (select from event where task_id = ${id} and state = 'pending')
      `
      return settled.length === 1 && !(await isRunning(id))
    })
  /** True while further attempts are planned. */
  const isRunning = async (id: string): Promise<boolean> =>
    (await stage.jobs.check(deliveryWorkflowId(id))) === 'open'
  /** Waits until the first attempt for a state has failed, and a workflow plans the next. */
  const untilPlanned = async (id: string, state: string): Promise<void> => {
    await untilState(id, `${state} pending 1`)
    await waitFor('further attempts are planned', () => isRunning(id))
  }
  /** Ends a task in the rows alone, as one whose signals are lost. */
  const failSilently = (id: string) =>
    unitOfWork({ sql }, (sql, enqueue) =>
      failVideoTask(sql, { id, error: ERROR }, { ...stage.options, enqueue }),
    )

  test('goes with its workflow and ends with it', async () => {
    const reply = inTurn(respond(204), respond(204), respond(500), respond(204))
    const { id, path } = await create(reply, {})
    await untilNotified(path, 'queueing', 'processing')
    stage.release(id)
    await untilClosed(id)
    assert.deepEqual(statesAt(path), ['queueing', 'processing', 'success', 'success'])
    assert.deepEqual(await listStates(sql, id), [
      'created unsent 0',
      'queueing delivered 0',
      'processing delivered 0',
      'success delivered 1',
    ])
  })

  describe('when it is reconciled', () => {
    test('goes on where it was ended by hand', async () => {
      const { id, path, release } = await createQueued(inTurn(NEXT_HOUR, respond(204)))
      await untilPlanned(id, 'queueing')
      await stage.delivery(id).terminate('by hand')
      await sql`update event set next_attempt_at = now() where task_id = ${id} and failures = 1`
      await stage.whileReconciling(() => untilState(id, 'queueing delivered 1'))
      await release()
      await stage.whileReconciling(() => untilNotified(path, 'queueing', 'processing', 'success'))
      assert.deepEqual(statesAt(path), ['queueing', 'queueing', 'processing', 'success'])
      await untilClosed(id)
    })

    test('sends again what was under way when it was ended by hand', async () => {
      const reply = inTurn(respond(500), hang, respond(204))
      const { id, path, release } = await createQueued(reply)
      await untilNotified(path, 'queueing', 'queueing')
      await waitFor('the second is under way', () => statesAt(path).length === 2)
      await stage.delivery(id).terminate('by hand')
      await stage.whileReconciling(() => untilState(id, 'queueing delivered 2'))
      await release()
      await untilNotified(path, 'success')
      await untilClosed(id)
      assert.deepEqual(await listStates(sql, id), [
        'created unsent 0',
        'queueing delivered 2',
        'processing delivered 0',
        'success delivered 0',
      ])
    })

    test('begins where Temporal knows nothing of it', async () => {
      const { id, path } = await create(respond(204), { quiet: true })
      await failSilently(id)
      await untilClosed(id)
      await sql`update event set state = 'pending', failures = 1 where task_id = ${id} and state = 'delivered'`
      await stage.whileReconciling(() => untilClosed(id))
      assert.deepEqual(statesAt(path), ['failed', 'failed'])
    })

    test('leaves alone what waits', async () => {
      const { id, path, release } = await createQueued(NEXT_HOUR)
      await untilPlanned(id, 'queueing')
      const { runId } = await stage.delivery(id).describe()
      const other = await create(respond(204), { quiet: true })
      await failSilently(other.id)
      await stage.whileReconciling(() => untilNotified(other.path, 'failed'))
      assert.equal((await stage.delivery(id).describe()).runId, runId)
      assert.deepEqual(statesAt(path), ['queueing'])
      await release()
    })

    test('takes up a redelivery of which Temporal knows nothing, or that was ended by hand', async () => {
      const replies = inTurn(respond(204), NEXT_HOUR, respond(204))
      const { id, path } = await create(replies, { quiet: true })
      await failSilently(id)
      await stage.whileReconciling(() => untilNotified(path, 'failed'))
      const eventId = await eventOf(sql, id, 'failed')
      const redeliveryId = await redeliver(sql, eventId)
      const isPending = async (failures: number) => {
        const rows = await sql`
          select from redelivery where id = ${redeliveryId} and state = 'pending' and failures = ${failures}
        `
        return rows.length === 1
      }
      await stage.whileReconciling(() => waitFor('it was tried', () => isPending(1)))
      const handle = stage.jobs.client.workflow.getHandle(`redeliver-event/${redeliveryId}`)
      await handle.terminate('by hand')
      await sql`update redelivery set next_attempt_at = now() where id = ${redeliveryId}`
      const isDelivered = async () => !(await isPending(1)) && statesAt(path).length === 3
      await stage.whileReconciling(() => waitFor('it is delivered', isDelivered))
    })
  })

  test('of one that an operator fails before it is begun delivers the end, and nothing more once it begins', async () => {
    const { id, path } = await create(respond(204), { quiet: true })
    await commands.fail(id)
    await untilNotified(path, 'failed')
    await untilClosed(id)
    const task = { id, family: 'video', kind: 'text2video', owner: 'x', account: 'x' } as const
    const facts = { ...task, offPeak: false, engine: 'local', priority: 0, admission: 1 } as const
    await unitOfWork(stage.options, (_sql, enqueue) => enqueue(stage.options.startOf(facts)))
    await untilStatus(stage.workflow(id), 'COMPLETED')
    assert.deepEqual(statesAt(path), ['failed'])
  })

  describe('beside a redelivery', () => {
    const again = async (eventId: string): Promise<void> => {
      await unitOfWork(stage.options, async (sql, enqueue) => {
        const begun = await insertRedelivery(sql, eventId)
        const facts = { redeliveryId: begun?.id ?? '', owner: 'alice' }
        await enqueue(startRedelivery(facts, stage.options))
      })
    }

    test('goes on with the next event once that has arrived', async () => {
      const { id, path, release } = await createQueued(inTurn(NEXT_HOUR, respond(204)))
      await untilState(id, 'queueing pending 1')
      await again(await eventOf(sql, id, 'queueing'))
      await untilState(id, 'queueing delivered 1')
      await release()
      await untilClosed(id)
      assert.deepEqual(statesAt(path), ['queueing', 'queueing', 'processing', 'success'])
      assert.equal(new Set(receiver.of(path).map((one) => one.headers['webhook-id'])).size, 3)
    })
  })
})
