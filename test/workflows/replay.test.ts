import assert from 'node:assert/strict'
import { readFile, readdir } from 'node:fs/promises'
import { describe, test } from 'node:test'

import { Worker } from '@temporalio/worker'

import { workflowBundle } from '../support/stack.ts'
import { installQuietRuntime } from './runtime.ts'

const FOLDER = new URL('./histories/', import.meta.url)

interface History {
  events: { workflowExecutionStartedEventAttributes?: object }[]
}

const base64 = (text: string): string => Buffer.from(text).toString('base64')
const TRACE = { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` }
const TRACED = {
  fields: {
    '_tracer-data': {
      metadata: { encoding: base64('json/plain') },
      data: base64(JSON.stringify(TRACE)),
    },
  },
}

describe('the workflows replay', async () => {
  installQuietRuntime()
  for (const name of await readdir(FOLDER))
    test(`the stored history ${name}`, async () => {
      const history = JSON.parse(await readFile(new URL(name, FOLDER), 'utf8')) as unknown
      await Worker.runReplayHistory({ workflowBundle: { codePath: workflowBundle() } }, history)
    })

  test('and the stored histories of two ends as if they were traced', async () => {
    for (const name of ['image-task-completed.json', 'video-task-admitted-later.json']) {
      const history = JSON.parse(await readFile(new URL(name, FOLDER), 'utf8')) as History
      const [started] = history.events
      Object.assign(started?.workflowExecutionStartedEventAttributes ?? {}, { header: TRACED })
      await Worker.runReplayHistory({ workflowBundle: { codePath: workflowBundle() } }, history)
    }
  })

  test('and a history of other steps is refused', async () => {
    const text = await readFile(new URL('image-task-completed.json', FOLDER), 'utf8')
    const history = JSON.parse(text.replaceAll('renderImageTask', 'renderSomething')) as unknown
    await assert.rejects(
      Worker.runReplayHistory({ workflowBundle: { codePath: workflowBundle() } }, history),
      { name: 'DeterminismViolationError' },
    )
  })
})
