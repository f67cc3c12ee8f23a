import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { ApplicationFailure } from '@temporalio/activity'

import { makeTaskQueue } from '../support/stack.ts'
import { makeLatch, waitFor } from '../support/wait.ts'
import { IMAGE_SCENARIOS, rendered } from './image-scenarios.ts'
import { readAttributes, readDetails, untilFound } from './scenarios.ts'
import { useTestRunner } from './test-runner.ts'

const FAILED = (reason: object): unknown[][] => [['fail', reason]]
const reasonOf = (code: string): object => ({ code, message: 'what the caller reads' })
const done = (fence: number): unknown[] => ['complete', { fence, results: [] }]

/** The moves each path asks for. */
const TRANSITIONS: Record<keyof typeof IMAGE_SCENARIOS, unknown[][]> = {
  completed: [done(1)],
  'bad-input': FAILED(reasonOf('image_invalid')),
  'engine-failed': FAILED({ code: 'engine_failed', message: 'three times' }),
  'timed-out': FAILED(reasonOf('timeout')),
  'worker-lost': [done(2)],
  'ended-before-render': [['complete', undefined]],
  'cancelled-while-waiting': FAILED({ code: 'cancelled' }),
  'cancelled-while-rendering': FAILED({ code: 'cancelled' }),
  'cancelled-by-operator': FAILED({ code: 'cancelled' }),
  superseded: [done(1), done(1)],
  'deadlines-met': [done(1)],
  // The second time what its render has left is removed.
  'start-timed-out': [
    ['fail', { code: 'start_timeout' }],
    ['fail', { code: 'start_timeout' }],
  ],
  'deadline-exceeded': [
    ['fail', { code: 'deadline_exceeded' }],
    ['fail', { code: 'deadline_exceeded' }],
  ],
}

describe('the workflow of an image task', { concurrency: true }, () => {
  const runner = useTestRunner('workflow')

  for (const [name, calls] of Object.entries(TRANSITIONS))
    test(`an image task ends with the right transitions: ${name}`, async () => {
      const ended = await runner.image(IMAGE_SCENARIOS[name as keyof typeof IMAGE_SCENARIOS])
      assert.deepEqual(ended.calls, calls)
      assert.equal((await ended.handle.describe()).status.name, 'COMPLETED')
      const expected =
        calls.at(-1)?.[0] === 'complete' && calls.at(-1)?.[1] ? 'COMPLETED' : 'FAILED'
      assert.equal((await readAttributes(ended.handle))['KilnStatus'], expected)
    })

  test('tries again after an error that nobody classified', async () => {
    let attempts = 0
    const ended = await runner.image({
      render: async () => {
        if ((attempts += 1) === 1) throw new TypeError('a bug')
        return await rendered()
      },
    })
    assert.deepEqual(ended.calls, [done(2)])
  })

  test('completes also when a move rejects for good', async () => {
    const ended = await runner.image({
      render: rendered,
      complete: () => Promise.reject(ApplicationFailure.nonRetryable('no', 'surprise')),
    })
    assert.deepEqual(ended.calls, [done(1), ['fail', { code: 'surprise', message: 'no' }]])
  })

  test('leaves its place in the worker while a move cannot be made', async () => {
    const met = new Set<string>()
    let isAway = true
    const complete = (taskId: string): Promise<'COMPLETED'> => {
      met.add(taskId)
      return isAway ? Promise.reject(new Error('the store is away')) : Promise.resolve('COMPLETED')
    }
    // A worker takes 40 workflow tasks at once.
    const runs = Array.from({ length: 45 }, () => runner.image({ render: rendered, complete }))
    try {
      await waitFor('all have had their turn', () => met.size === runs.length)
    } finally {
      isAway = false
    }
    for (const { calls } of await Promise.all(runs)) assert.deepEqual(calls.at(-1), done(1))
  })

  test('takes results that are there although somebody cancels it meanwhile', async () => {
    const begun = makeLatch()
    const cancelled = makeLatch()
    const ended = await runner.image({
      render: rendered,
      complete: async () => {
        begun.open()
        await cancelled.opened
        return 'COMPLETED'
      },
      act: async (handle) => {
        await begun.opened
        await handle.cancel()
        cancelled.open()
      },
    })
    // After the cancellation the server has the step repeated; a transition made twice is one transition.
    assert.deepEqual(new Set(ended.calls.map(([call]) => call)), new Set(['complete']))
  })

  test('an image task shows operators what it is, for whom, and where it stands', async () => {
    const owner = `owner-${makeTaskQueue('of')}`
    const kind = 'skin_creative'
    const { handle } = await runner.image(IMAGE_SCENARIOS.completed, { owner, kind })
    assert.equal(await (await handle.describe()).staticSummary(), `${kind} 16×16 for ${owner}`)
    const query = `KilnOwner = '${owner}' and KilnKind = '${kind}' and KilnStatus = 'COMPLETED'`
    await untilFound(handle, query)
    assert.equal(await readDetails(handle), '**COMPLETED**: the results are stored')
    const end = { status: 'COMPLETED', reason: 'the results are stored' }
    assert.deepEqual(await handle.result(), end)
  })
})
