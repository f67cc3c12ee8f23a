import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { Context } from '@temporalio/activity'
import type { WorkflowHandle } from '@temporalio/client'

import type { SendResult } from '../../activities/events/delivery.ts'
import type { DeliveryStep } from '../../activities/events/delivery.ts'
import { waitFor } from '../support/wait.ts'
import { DELIVERY_SCENARIOS, DONE, due, REDELIVERY_SCENARIOS } from './delivery-scenarios.ts'
import type { Run } from './run.ts'
import { useTestRunner } from './test-runner.ts'
import { cancel, inOrder, inTurn, readAttributes, readDetails, untilDetails } from './scenarios.ts'

/** Number of attempts of each path. */
const ATTEMPTS: Record<keyof typeof DELIVERY_SCENARIOS, number> = {
  delivered: 1,
  retried: 2,
  'superseded-while-waiting': 1,
  'stopped-while-waiting': 0,
  deferred: 3,
  'attempt-lost': 2,
  'worker-lost': 2,
}

describe('the workflow that delivers the events of a task', { concurrency: true }, () => {
  const runner = useTestRunner('deliver')

  const countAttempts = ({ calls }: Run): number => calls.filter(([call]) => call === 'try').length
  const statusOf = async (handle: WorkflowHandle): Promise<string> =>
    (await handle.describe()).status.name
  const summariesOf = async (handle: WorkflowHandle): Promise<string[]> => {
    const { events } = await handle.fetchHistory()
    return (events ?? []).flatMap(({ userMetadata }) => {
      const data = userMetadata?.summary?.data
      return data ? [String(JSON.parse(Buffer.from(data).toString()))] : []
    })
  }

  for (const [name, attempts] of Object.entries(ATTEMPTS))
    test(`looks before each step and tries as often as is due: ${name}`, async () => {
      const run = await runner.deliver(DELIVERY_SCENARIOS[name as keyof typeof DELIVERY_SCENARIOS])
      assert.equal(await statusOf(run.handle), 'COMPLETED')
      assert.equal(countAttempts(run), attempts)
      const kinds = run.calls.map(([call]) => call)
      assert.equal(kinds.at(-1), 'done')
      // Nothing is tried that no look has just named.
      for (const [index, kind] of kinds.entries())
        if (kind === 'try') assert.equal(kinds[index - 1], 'send')
      assert.equal(await readDetails(run.handle), '**Done**: nothing is left to send')
    })

  for (const [name, attempts] of Object.entries({ delivered: 1, retried: 2, 'wakes-nobody': 1 }))
    test(`is like the one of a redelivery: ${name}`, async () => {
      const scenario = REDELIVERY_SCENARIOS[name as keyof typeof REDELIVERY_SCENARIOS]
      const run = await runner.redeliver(scenario)
      assert.equal(await statusOf(run.handle), 'COMPLETED')
      assert.equal(countAttempts(run), attempts)
    })

  test('waits in a timer that says what for, and says why and until when', async () => {
    const step = due({ failures: 2, lastFailure: 'status_5xx 500', waitMs: 60_000 })
    const ATTEMPT = 'attempt 3 of event 2 (IN_PROGRESS) to hooks.example.com, after status_5xx 500'
    let seen = ''
    await assert.rejects(
      runner.deliver({
        next: () => Promise.resolve(step),
        act: async (handle) => {
          seen = await waitFor('it says so', async () => {
            const details = await readDetails(handle)
            return details.includes('due at') && details
          })
          const summaries = await summariesOf(handle)
          assert.ok(summaries.includes(ATTEMPT), summaries.join())
          await handle.cancel()
        },
      }),
    )
    const [said, time] = seen.split(' It is due at ')
    assert.equal(said, `**Delivering** ${ATTEMPT}.`)
    assert.match(time ?? '', /^20[-0-9T:.]+Z\.$/)
  })

  test('ends with what became of its last attempt, for operators', async () => {
    const outcome = 'failed at hooks.example.com: status_5xx 500; there is no further attempt'
    const { handle } = await runner.deliver({
      next: inTurn<DeliveryStep>(due(), due(), DONE),
      send: inTurn<SendResult>({ deferMs: 0, outcome: 'delivered' }, { deferMs: 0, outcome }),
    })
    assert.equal(await handle.result(), outcome)
    assert.equal(await readDetails(handle), `**Done**: ${outcome}`)
  })

  test('reads what it waits for at each signal, and makes no attempt before it is due', async () => {
    let checks = 0
    const step = due({ failures: 1, waitMs: 3_600_000 })
    const run = runner.deliver({
      next: async () => ((checks += 1) < 6 ? step : DONE),
      act: async (handle) => {
        await waitFor('it is done', async () => {
          await handle.signal('eventRecorded').catch(() => {})
          return (await statusOf(handle)) !== 'RUNNING'
        })
      },
    })
    assert.equal(countAttempts(await run), 0)
  })

  test('ends when an operator cancels it, while it waits and while it sends', async () => {
    const hang = (): Promise<never> => Context.current().cancelled
    const act = inOrder((handle) => untilDetails(handle, /./), cancel)
    for (const scenario of [
      { next: async () => due({ waitMs: 60_000 }) },
      { next: async () => due(), send: hang },
    ]) {
      const delivering = runner.deliver({ ...scenario, act })
      await assert.rejects(delivering, { name: 'WorkflowFailedError' })
    }
  })

  test('goes on in another run when its history has grown long', async () => {
    // Temporal suggests it at 4 MiB, too: four results are enough, where attempts would take thousands.
    const filler = 'x'.repeat(1_200_000)
    let sent = 0
    const scenario = {
      next: (): Promise<DeliveryStep> => Promise.resolve(sent < 6 ? due() : DONE),
      send: async () => {
        sent += 1
        return { deferMs: 0, filler }
      },
    }
    const run = await runner.deliver(scenario)
    assert.equal(sent, 6)
    const { events } = await run.handle.fetchHistory()
    const started = events?.[0]?.workflowExecutionStartedEventAttributes
    assert.ok(started?.continuedExecutionRunId, 'the last run goes on from another')
  })

  test('sends an event that waits when a redelivery signals that it may', async () => {
    let isNotified = false
    const after = inTurn<DeliveryStep>(due(), DONE)
    const run = runner.deliver({
      next: (id) => (isNotified ? after(id) : Promise.resolve(due({ waitMs: 3_600_000 }))),
      act: async (handle) => {
        await waitFor('it waits', async () => (await readDetails(handle)).includes('due at'))
        isNotified = true
        const taskInWait = handle.workflowId.replace('deliver-events/', '')
        await runner.redeliver({ next: inTurn<DeliveryStep>(due(), { kind: 'done', taskInWait }) })
      },
    })
    assert.equal(countAttempts(await run), 1)
  })

  test('is found by its owner, with a status and a turn of its own', async () => {
    const { handle } = await runner.deliver(DELIVERY_SCENARIOS.delivered)
    const { KilnOwner: owner, KilnStatus: status } = await readAttributes(handle)
    assert.deepEqual([owner, status], ['alice', 'delivering'])
    const { raw } = await handle.describe()
    assert.equal(raw.workflowExecutionInfo?.priority?.fairnessKey?.length, 32)
  })
})
