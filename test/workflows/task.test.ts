import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { ApplicationFailure } from '@temporalio/activity'

import { makeTaskQueue } from '../support/stack.ts'
import { makeLatch, waitFor } from '../support/wait.ts'
import {
  askToCancel,
  attempt,
  countQueued,
  fails,
  readAttributes,
  readDetails,
  untilCancelled,
  untilFound,
  untilHeartbeat,
} from './scenarios.ts'
import { TASK_SCENARIOS, done, putBack } from './task-scenarios.ts'
import { useTestRunner } from './test-runner.ts'

const reasonOf = (code: string) => ({ code, message: 'what the caller reads' })
const CANCELLED = { code: 'cancelled' }

/** The end of each path, and the reason with which it fails the task itself. */
const ENDS: Record<
  keyof typeof TASK_SCENARIOS,
  [status: string, reason: string, failure?: { code: string; message?: string }]
> = {
  completed: ['done', ''],
  'put-back': ['waiting', 'breaker:engine:local'],
  'bad-input': ['failed', 'image_invalid', reasonOf('image_invalid')],
  'engine-failed': ['failed', 'engine_failed', { code: 'engine_failed', message: 'three times' }],
  'timed-out': ['failed', 'timeout', reasonOf('timeout')],
  'worker-lost': ['done', ''],
  'worker-stopped': ['done', ''],
  'ended-before-render': ['failed', 'start_timeout'],
  'cancelled-while-waiting': ['cancelled', 'cancelled', CANCELLED],
  'cancelled-while-rendering': ['cancelled', 'cancelled', CANCELLED],
  'cancelled-by-operator': ['cancelled', 'cancelled', CANCELLED],
  'cancelled-too-late': ['done', '', CANCELLED],
}

describe('the workflow of a task', { concurrency: true }, () => {
  const runner = useTestRunner('workflow')

  for (const family of ['image', 'video'] as const)
    for (const [name, [status, reason, failure]] of Object.entries(ENDS))
      test(`of a task of the family ${family} ends as it should: ${name}`, async () => {
        const scenario = TASK_SCENARIOS[name as keyof typeof TASK_SCENARIOS]
        const { calls, handle } = await runner.task(family, scenario)
        assert.deepEqual(calls, failure ? [['fail', failure]] : [])
        const sentence = failure?.message !== undefined && status === 'failed'
        const result = { status, reason, ...(sentence && { message: failure.message }) }
        assert.deepEqual(await handle.result(), result)
        const { KilnStatus, KilnReason = '' } = await readAttributes(handle)
        assert.deepEqual([KilnStatus, KilnReason], [status, reason])
      })

  test('tries again after an error that nobody classified', async () => {
    const { calls, handle } = await runner.task('image', {
      render: () => (attempt() === 1 ? Promise.reject(new TypeError('a bug')) : done()),
    })
    assert.deepEqual(calls, [])
    assert.deepEqual(await handle.result(), { status: 'done', reason: '' })
  })

  test('fails when its last move rejects for good, so that reconcile ends the task', async () => {
    const run = runner.task('image', {
      render: fails('image_invalid'),
      fail: () => Promise.reject(ApplicationFailure.nonRetryable('no', 'surprise')),
    })
    await assert.rejects(run, { name: 'WorkflowFailedError' })
  })

  test('leaves its place in the worker while a move cannot be made', async () => {
    const met = new Set<string>()
    let isAway = true
    const scenario = {
      render: fails('image_invalid'),
      fail: async ({ taskId }: { taskId: string }) => {
        met.add(taskId)
        if (isAway) throw new Error('the store is away')
        return { state: 'failed', reason: 'image_invalid' } as const
      },
    }
    // A worker takes 40 workflow tasks at once.
    const runs = Array.from({ length: 45 }, () => runner.task('image', scenario))
    try {
      await waitFor('all have had their turn', () => met.size === runs.length)
    } finally {
      isAway = false
    }
    const { code: reason, message } = reasonOf('image_invalid')
    const failed = { status: 'failed', reason, message }
    for (const { handle } of await Promise.all(runs))
      assert.deepEqual(await handle.result(), failed)
  })

  test('ends its workflow task before a move that failed is made again', async () => {
    const { handle } = await runner.task('image', {
      render: fails('image_invalid'),
      fail: () =>
        attempt() === 1
          ? Promise.reject(new Error('the database is away'))
          : Promise.resolve({ state: 'failed', reason: 'image_invalid' }),
    })
    const { events = [] } = await handle.fetchHistory()
    const timers = (events ?? []).filter((event) => event.timerStartedEventAttributes)
    assert.equal(timers.length, 1)
  })

  test('has one run for an admission that is dispatched twice', async () => {
    const rendered: number[] = []
    const { handle } = await runner.task('image', {
      render: ({ admission }) => (rendered.push(admission) === 1 ? untilCancelled() : done()),
      act: async (handle, admit) => {
        await untilHeartbeat(handle)
        await admit(1)
        await askToCancel(handle)
        await handle.result()
        // The mark that it was dispatched may be lost for longer than the run takes.
        await admit(1)
      },
    })
    assert.deepEqual(rendered, [1])
    assert.deepEqual(await handle.result(), { status: 'cancelled', reason: 'cancelled' })
  })

  test('is left due while the run of an earlier admission is open', async () => {
    const rendered: number[] = []
    await runner.task('image', {
      render: ({ admission }) => {
        rendered.push(admission)
        return untilCancelled()
      },
      act: async (handle, admit) => {
        await untilHeartbeat(handle)
        const message = 'the run of an earlier admission is still open'
        await assert.rejects(admit(2), { message })
        await askToCancel(handle)
      },
    })
    assert.deepEqual(rendered, [1])
  })

  test('goes on in another run of the same id once it is admitted again', async () => {
    const { handle } = await runner.task('image', {
      render: ({ admission }) => (admission === 1 ? putBack() : done()),
      act: async (handle, admit) => {
        const { status } = (await handle.result()) as { status: string }
        assert.equal(status, 'waiting')
        await admit(2)
        await handle.result()
        // The start of the first comes late.
        await admit(1)
      },
    })
    assert.deepEqual(await handle.result(), { status: 'done', reason: '' })
  })

  test('shows operators what it is, for whom, and where it stands', async () => {
    const owner = `owner-${makeTaskQueue('of')}`
    const kind = 'skin_creative'
    const of = `KilnOwner = '${owner}' and KilnKind = '${kind}'`
    const facts = { owner, kind }
    const shown = makeLatch()
    const completed = await runner.task(
      'image',
      {
        render: async () => {
          await shown.opened
          return await done()
        },
        act: (handle) => untilFound(handle, `${of} and KilnStatus = 'queued'`).finally(shown.open),
      },
      facts,
    )
    await untilFound(completed.handle, `${of} and KilnStatus = 'done'`)
    assert.equal(await (await completed.handle.describe()).staticSummary(), `${kind} for ${owner}`)
    assert.equal(await readDetails(completed.handle), '**done**: the results are stored')

    const { handle } = await runner.task('image', TASK_SCENARIOS['bad-input'], facts)
    await untilFound(handle, `${of} and KilnStatus = 'failed' and KilnReason = 'image_invalid'`)
    assert.equal(await readDetails(handle), '**failed**: image_invalid: what the caller reads')
  })

  test('has the key of its owner in the order of work, off-peak ones behind all others', async () => {
    for (const [offPeak, key] of [
      [false, 3],
      [true, 5],
    ] as const) {
      const { handle } = await runner.task('video', TASK_SCENARIOS.completed, { offPeak })
      const { raw } = await handle.describe()
      const { priorityKey, fairnessKey } = raw.workflowExecutionInfo?.priority ?? {}
      assert.deepEqual([priorityKey, fairnessKey?.length], [key, 32])
    }
  })
})

describe('the queue of a media worker', () => {
  const runner = useTestRunner('precedence', 1)

  test('has a task whose worker is lost before all that wait', async () => {
    const rendered: string[] = []
    const lost = makeLatch()
    const other = () => {
      rendered.push('other')
      return done()
    }
    const others: Promise<unknown>[] = []
    await runner.task('image', {
      heartbeatSeconds: 1,
      render: async ({ workersLost = 0 }) => {
        rendered.push(`lost ${workersLost}`)
        if (workersLost === 0) await lost.opened
        return await done()
      },
      act: async (handle) => {
        await waitFor('it renders', () => rendered.length > 0)
        for (let n = 0; n < 3; n += 1) others.push(runner.task('image', { render: other }))
        // The slot is free once all four are in the queue.
        await waitFor('all wait', async () => (await countQueued(handle)) === 4).finally(lost.open)
      },
    })
    await Promise.all(others)
    assert.deepEqual(rendered, ['lost 0', 'lost 1', 'other', 'other', 'other'])
  })
})
