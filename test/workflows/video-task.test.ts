import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import type { WorkflowHandle } from '@temporalio/client'

import { makeTaskQueue } from '../support/stack.ts'
import { makeLatch, waitFor } from '../support/wait.ts'
import { readAttributes } from './scenarios.ts'
import { useTestRunner } from './test-runner.ts'
import {
  ADMITTED,
  RENDERED,
  VIDEO_SCENARIOS,
  WAITING,
  admit,
  storedVideo,
} from './video-scenarios.ts'

const ENTER = ['enqueue']
const done = (fence: number): unknown[] => ['complete', { ...RENDERED, fence }]
const NOTHING = ['complete', undefined]
const fail = (reason: object): unknown[] => ['fail', reason]
const CANCELLED = fail({ code: 'cancelled' })
const BAD_INPUT = fail({ code: 'ImageFormatInvalid', message: 'what the caller reads' })
/** The second time what its render has left is removed. */
const twice = (reason: object) => [fail(reason), fail(reason)]
const OVERDUE = fail({ code: 'SystemThrottling' })

/** The moves each path asks for, and the state it ends in. */
const ENDS: Record<keyof typeof VIDEO_SCENARIOS, [state: string, ...calls: unknown[][]]> = {
  completed: ['success', ENTER, done(1)],
  'admitted-later': ['success', ENTER, done(1)],
  'admitted-unsignalled': ['success', ENTER, ENTER, done(1)],
  'admitted-by-mistake': ['success', ENTER, NOTHING, ENTER, done(1)],
  'off-peak-completed': ['success', ENTER, done(1)],
  'overdue-while-queueing': ['failed', ENTER, OVERDUE],
  'overdue-while-rendering': ['failed', ENTER, OVERDUE],
  'bad-input': ['failed', ENTER, BAD_INPUT],
  'engine-failed': ['failed', ENTER, fail({ code: 'engine_failed', message: 'three times' })],
  'worker-lost': ['success', ENTER, done(2)],
  'ended-before-queued': ['failed', ENTER],
  'ended-before-render': ['failed', ENTER, NOTHING],
  'cancelled-while-queueing': ['failed', ENTER, CANCELLED],
  'failed-by-operator-while-rendering': ['failed', ENTER, CANCELLED],
  'cancelled-by-operator': ['failed', ENTER, CANCELLED],
  superseded: ['success', ENTER, done(1), ENTER, done(1)],
  'start-timed-out': ['failed', ENTER, ...twice({ code: 'start_timeout' })],
  'deadline-exceeded': ['failed', ENTER, ...twice({ code: 'deadline_exceeded' })],
}

describe('the workflow of a video task', { concurrency: true }, () => {
  const runner = useTestRunner('workflow')

  for (const [name, [state, ...calls]] of Object.entries(ENDS))
    test(`a video task ends with the right transitions: ${name}`, async () => {
      const ended = await runner.video(VIDEO_SCENARIOS[name as keyof typeof VIDEO_SCENARIOS])
      assert.deepEqual(ended.calls, calls)
      assert.equal((await ended.handle.describe()).status.name, 'COMPLETED')
      assert.equal((await readAttributes(ended.handle))['KilnStatus'], state)
    })

  /** An enqueueing that ends only once something has happened to the workflow. */
  const heldEnqueue = (happening: (handle: WorkflowHandle) => Promise<unknown>) => {
    const begun = makeLatch()
    const happened = makeLatch()
    // A signal that came before the row was read is forgotten, as when a worker begins again: then the row says it.
    let calls = 0
    return {
      enqueue: async () => {
        if (calls++ > 0) return ADMITTED
        begun.open()
        await happened.opened
        return WAITING
      },
      act: async (handle: WorkflowHandle) => {
        await begun.opened
        await happening(handle)
        happened.open()
      },
    }
  }

  test('renders also when the slot is given while the task still enters the queue', async () => {
    const held = heldEnqueue((handle) => handle.signal('admitted', { id: '1' }))
    const { calls } = await runner.video({ ...held, render: storedVideo })
    assert.deepEqual([calls[0], calls.at(-1)], [ENTER, done(1)])
  })

  test('fails when it is cancelled while it still enters the queue', async () => {
    const held = heldEnqueue((handle) => handle.signal('cancelRequested', { id: '1' }))
    const ended = await runner.video({ ...held, render: storedVideo })
    assert.deepEqual(ended.calls.at(-1), CANCELLED)
  })

  test('waits again after a signal that came without a slot, and renders once there is one', async () => {
    let queued = 0
    const renders: number[] = []
    const ended = await runner.video({
      enqueue: () => {
        queued += 1
        return Promise.resolve(WAITING)
      },
      render: () => {
        renders.push(queued)
        return queued === 1 ? Promise.resolve(undefined) : storedVideo()
      },
      complete: (_taskId, rendered) => Promise.resolve(rendered ? 'success' : 'queueing'),
      act: async (handle) => {
        await admit(handle)
        await waitFor('it has entered again', () => queued === 2)
        assert.deepEqual(renders, [1])
        await handle.signal('admitted', { id: '2' })
      },
    })
    assert.deepEqual(ended.calls, [ENTER, NOTHING, ENTER, done(1)])
    assert.deepEqual(renders, [1, 2])
  })

  test('takes the video that is there although the off-peak deadline passes meanwhile', async () => {
    const end = { status: 'success', reason: 'the video is stored' }
    // A slow machine may render longer than that: then once more, with a later deadline.
    const rendered = new Set<number>()
    for (let offPeakMs = 500; rendered.size === 0; offPeakMs *= 2) {
      let begin = (_handle: WorkflowHandle): void => {}
      const begun = new Promise<WorkflowHandle>((resolve) => void (begin = resolve))
      const ended = await runner.video({
        enqueue: () => Promise.resolve({ ...ADMITTED, offPeakMs }),
        render: storedVideo,
        complete: async () => {
          rendered.add(offPeakMs)
          const handle = await begun
          await waitFor('the deadline has passed', async () => {
            const { events } = await handle.fetchHistory()
            return events?.some((event) => event.timerFiredEventAttributes)
          })
          return 'success'
        },
        act: (handle) => Promise.resolve(begin(handle)),
      })
      if (rendered.size > 0) assert.deepEqual(await ended.handle.result(), end)
    }
  })

  test('is on the media queue with the key of its owner, off-peak ones behind all others', async () => {
    const owner = `owner-${makeTaskQueue('of')}`
    for (const offPeak of [false, true]) {
      const facts = { owner, kind: 'extend', offPeak }
      const { handle } = await runner.video(VIDEO_SCENARIOS.completed, facts)
      const { raw } = await handle.describe()
      const { priorityKey, fairnessKey } = raw.workflowExecutionInfo?.priority ?? {}
      assert.deepEqual([priorityKey, fairnessKey?.length], [offPeak ? 5 : 3, 32])
      assert.equal(await (await handle.describe()).staticSummary(), `extend for ${owner}`)
    }
  })
})
