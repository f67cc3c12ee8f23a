import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'

import { addActions, countActions, totalOf } from '../../bench/support/actions.ts'
import { ROOT } from '../../src/local/root.ts'

type Events = Parameters<typeof countActions>[0]

const readHistory = async (name: string): Promise<Events> => {
  const text = await readFile(join(ROOT, 'test/workflows/histories', `${name}.json`), 'utf8')
  return (JSON.parse(text) as { events: Events }).events
}

const STORED: [history: string, actions: object][] = [
  ['image-task-completed', { start: 1, activity: 1, upsert: 1 }],
  // The start's signal costs nothing more; two attempts, and a timer between them.
  ['deliver-events-retried', { start: 1, activity: 2, timer: 1, 'local activities': 3 }],
  ['publish-version-active', { start: 1, child: 2, upsert: 1, 'local activities': 1 }],
  // The local activities that its last workflow task ran are one.
  ['run-batch-done', { start: 1, activity: 3, signal: 1, upsert: 1, 'local activities': 2 }],
]

describe('Actions of a history', () => {
  for (const [name, actions] of STORED)
    test(`of ${name} are counted by kind`, async () => {
      assert.deepEqual(countActions(await readHistory(name)), actions)
    })

  test('include each further attempt at an activity', () => {
    const started = { activityTaskStartedEventAttributes: { attempt: 5 } }
    const events = [{ activityTaskScheduledEventAttributes: {} }, started]
    assert.deepEqual(countActions(events), { activity: 1, retry: 4 })
  })

  test('count a signal of a workflow once, where it is sent', () => {
    const sent = { signalExternalWorkflowExecutionInitiatedEventAttributes: {} }
    const came = { workflowExecutionSignaledEventAttributes: { externalWorkflowExecution: {} } }
    const ofClient = { workflowExecutionSignaledEventAttributes: {} }
    const begun = { workflowExecutionStartedEventAttributes: {} }
    assert.deepEqual(countActions([begun, ofClient, sent, came, ofClient]), { start: 1, signal: 2 })
  })

  test('are added and subtracted by kind', () => {
    const left = addActions({ start: 3, timer: 2 }, { start: 1, timer: 2 }, -1)
    assert.deepEqual([left, totalOf(left)], [{ start: 2 }, 2])
  })
})
