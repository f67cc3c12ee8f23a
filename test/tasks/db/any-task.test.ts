import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { makeCommands } from '../../../src/operate/commands.ts'
import { OperatorError } from '../../../src/platform/process/operator-error.ts'
import { admitOwner } from '../../../src/tasks/db/admission.ts'
import { unitOfWork } from '../../../src/platform/db/unit-of-work.ts'
import { TASK_ERRORS } from '../../../src/tasks/domain/task-error.ts'
import { untilSeen, untilStatus, useStage } from '../../events/activities/video-stage.ts'
import { claimVideo, seeVideo, type SeenVideo } from '../activities/video-place.ts'
import { makeButtons } from '../../support/temporal-ui.ts'
import { use } from '../../support/use.ts'
import { waitFor } from '../../support/wait.ts'
import { AUDIT } from '../../registry/db/registry-place.ts'

const SUCCESS = ['created', 'queueing', 'processing', 'success']
const FAILED = { state: 'failed', errorCode: 'InternalServiceFailure' }
const REFUNDED = ['charge 10', 'refund 10']

describe('a video task', () => {
  const stage = useStage()
  const commands = use(() => makeCommands({ ...stage.options, audit: AUDIT }))

  const see = (id: string): Promise<SeenVideo> => seeVideo(stage.place.database, id)
  const until = (id: string, wanted: Partial<SeenVideo>): Promise<SeenVideo> =>
    untilSeen(id, () => see(id), wanted)
  /** Two tasks of an owner with one slot: the first is rendered, the second waits. */
  const pair = async (owner: string): Promise<[first: string, second: string]> => {
    const first = await stage.create({ owner })
    await stage.untilRendering(first)
    const second = await stage.create({ owner })
    await until(second, { state: 'created' })
    return [first, second]
  }
  const succeed = async (id: string): Promise<SeenVideo> => {
    stage.release(id)
    const seen = await until(id, { state: 'success' })
    assert.deepEqual([seen.events, seen.ledger], [SUCCESS, ['charge 10']])
    await untilStatus(stage.workflow(id), 'COMPLETED')
    return seen
  }

  describe('when it is reconciled', () => {
    test('fails with its credits returned when its workflow was ended by hand, and the next goes on', async () => {
      const [first, second] = await pair('by hand')
      await stage.workflow(first).terminate('by hand')
      await stage.whileReconciling(async () => {
        const failed = await until(first, FAILED)
        assert.equal(failed.errorMessage, TASK_ERRORS.workflow_lost)
        assert.deepEqual(failed.ledger, REFUNDED)
        await stage.untilRendering(second)
        await succeed(second)
      })
    })

    test('is started although one before it never can be', async () => {
      const ids = [
        await stage.create({ owner: 'unlucky', lost: true }),
        await stage.create({ owner: 'lucky', lost: true }),
      ].toSorted()
      const [bad = '', good = ''] = ids
      // Longer than a row of the outbox may be.
      await stage.place.deps.sql`update task set kind = repeat('x', 5000) where id = ${bad}`
      for (const id of ids) stage.release(id)
      await stage.whileReconciling(() => until(good, { state: 'success' }))
      await stage.place.deps.sql`update task set kind = 'text2video' where id = ${bad}`
      await stage.whileReconciling(() => until(bad, { state: 'success' }))
    })

    test('is left alone as long as its workflow is open, or it waits', async () => {
      const [first, second] = await pair('open')
      const [one, two] = [await see(first), await see(second)]
      const lost = await stage.create({ owner: 'other', lost: true })
      // When this one is started, the others were looked at, too.
      stage.release(lost)
      await stage.whileReconciling(() => until(lost, { state: 'success' }))
      assert.deepEqual([await see(first), await see(second)], [one, two])
      await succeed(first)
      await succeed(second)
    })

    test('is left alone when it ends while it is looked at', async () => {
      const id = await stage.create({ owner: 'ending' })
      await stage.untilRendering(id)
      const { workflowId } = stage.workflow(id)
      const check = async (checked: string) => {
        if (checked === workflowId) await succeed(id)
        return await stage.jobs.check(checked)
      }
      await stage.whileReconciling(() => until(id, { state: 'success' }), { check })
      const { sql } = stage.place.deps
      const kinds = await sql`select kind from outbox where workflow_id = ${workflowId}`
      assert.deepEqual([...kinds], [{ kind: 'start' }])
    })

    test('is started again in whatever state it is when Temporal knows nothing of it', async () => {
      const rendered = await stage.create({ owner: 'lost', lost: true })
      const waiting = await stage.create({ owner: 'lost' })
      const queued = await stage.create({ owner: 'lost too', lost: true })
      await claimVideo(stage.place.database, rendered)
      for (const id of [rendered, waiting, queued]) stage.release(id)
      await stage.whileReconciling(async () => {
        for (const id of [rendered, waiting, queued]) await succeed(id)
      })
      assert.deepEqual((await see(rendered)).fence, 2)
    })
  })

  describe('in the Temporal UI', () => {
    const ui = use(() => makeButtons(stage.jobs.client.workflow))

    test('is rendered again when its workflow is reset: it is charged once and ends once', async () => {
      const [first, second] = await pair('reset')
      await ui.reset(stage.workflow(first))
      await until(first, { fence: 2 })
      await stage.untilRendering(first)
      await succeed(first)
      await stage.untilRendering(second)
      await succeed(second)
    })

    test('stays as it is when its workflow is reset after its end', async () => {
      const id = await stage.create({ owner: 'reset late' })
      const ended = await succeed(id)
      await ui.reset(stage.workflow(id))
      assert.deepEqual(await stage.workflow(id).result(), { status: 'done', reason: '' })
      assert.deepEqual(await see(id), ended)
    })

    test('goes on by its newest admission when a run of an earlier one is reset', async () => {
      const owner = 'reset to the first'
      const id = await stage.create({ owner, lost: true })
      await stage.place.deps.sql`update task set waits_on = 'turn' where id = ${id}`
      const task = { id, family: 'video', kind: 'text2video', owner, account: owner } as const
      const facts = { ...task, offPeak: false, engine: 'local', priority: 0, admission: 1 } as const
      await stage.jobs.dispatch({ ...stage.options.startOf(facts), id: '', attempts: 1 })
      await untilStatus(stage.workflow(id), 'COMPLETED')
      const { runId } = await stage.workflow(id).describe()
      await unitOfWork(stage.options, (sql, enqueue) =>
        admitOwner(sql, { ...stage.options, owner, enqueue }),
      )
      await stage.untilRendering(id)
      await ui.reset(stage.workflow(id), runId)
      await untilStatus(stage.workflow(id), 'COMPLETED')
      await stage.whileReconciling(() => until(id, { fence: 2 }))
      await stage.untilRendering(id)
      const { ledger } = await succeed(id)
      assert.deepEqual(ledger, ['charge 10'])
    })

    test('is started again at once by an operator when it was terminated, and ends once', async () => {
      const [first, second] = await pair('terminated')
      await stage.workflow(first).terminate('by hand')
      await commands.restart(first)
      await until(first, { fence: 2 })
      await succeed(first)
      await succeed(second)
    })

    test('is rendered by nobody while its activity is paused, and then goes on', async () => {
      const id = await stage.create({ owner: 'paused' })
      await stage.untilRendering(id)
      await ui.pause(stage.workflow(id))
      await waitFor('its render has stopped', () => !stage.rendering.has(id))
      const paused = await ui.findActivity(stage.workflow(id))
      assert.equal(paused?.lastFailure?.message, 'an operator has paused the activity')
      const { state, fence } = await see(id)
      assert.deepEqual([state, fence], ['processing', 1])
      await ui.unpause(stage.workflow(id))
      await until(id, { fence: 2 })
      await succeed(id)
    })

    test('is ended by an operator while its activity is paused', async () => {
      const id = await stage.create({ owner: 'paused for good' })
      await stage.untilRendering(id)
      await ui.pause(stage.workflow(id))
      await commands.fail(id)
      const { ledger } = await until(id, FAILED)
      assert.deepEqual(ledger, REFUNDED)
      await untilStatus(stage.workflow(id), 'COMPLETED')
    })

    test('is rendered again when its activity is reset, and ends once', async () => {
      const id = await stage.create({ owner: 'activity reset' })
      await stage.untilRendering(id)
      await ui.resetActivity(stage.workflow(id))
      await until(id, { fence: 2 })
      const again = await ui.findActivity(stage.workflow(id))
      assert.equal(again?.lastFailure?.message, 'an operator has reset the activity')
      await succeed(id)
    })
  })

  describe('by an operator', () => {
    test('is failed while it is rendered, which stops, and the next goes on', async () => {
      const [first, second] = await pair('failed')
      assert.equal(await commands.fail(first), `task ${first} has failed, its credits are returned`)
      const { errorMessage, ledger } = await until(first, FAILED)
      assert.deepEqual([errorMessage, ledger], [TASK_ERRORS.internal_error, REFUNDED])
      await untilStatus(stage.workflow(first), 'COMPLETED')
      await waitFor('its render has stopped', () => !stage.rendering.has(first))
      await stage.untilRendering(second)
      await succeed(second)
      for (const id of [first, second]) await assert.rejects(commands.fail(id), OperatorError)
    })

    test('is restarted while it is rendered: it is charged once and ends once', async () => {
      const [first, second] = await pair('restarted')
      assert.match(await commands.restart(first), /was started again/)
      await until(first, { fence: 2 })
      await succeed(first)
      await succeed(second)
    })

    test('is not restarted while it waits: nothing of it runs', async () => {
      const [first, second] = await pair('patient')
      await assert.rejects(commands.restart(second), {
        name: 'OperatorError',
        message: `task ${second} waits (slot): nothing of it runs, and it begins by itself once it may`,
      })
      await succeed(first)
      await succeed(second)
    })

    test('is restarted when it was given its slot and its start was lost', async () => {
      const id = await stage.create({ owner: 'meanwhile', lost: true })
      await commands.restart(id)
      await untilStatus(stage.workflow(id), 'RUNNING')
      await succeed(id)
    })

    test('that has ended is not restarted', async () => {
      const id = await stage.create({ owner: 'over' })
      await succeed(id)
      await assert.rejects(commands.restart(id), {
        name: 'OperatorError',
        message: `task ${id} is success: only an open task can be changed`,
      })
    })
  })
})
