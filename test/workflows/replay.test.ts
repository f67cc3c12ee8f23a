import assert from 'node:assert/strict'
import { readFile, readdir } from 'node:fs/promises'
import { before, describe, test } from 'node:test'

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
  const options = { workflowBundle: { codePath: workflowBundle() } }
  const names = await readdir(FOLDER)
  const read = async (name: string): Promise<unknown> =>
    JSON.parse(await readFile(new URL(name, FOLDER), 'utf8')) as unknown
  const ends = new Map<string, Error | undefined>()
  before(async () => {
    // One worker for all: to load the bundle takes it as long as most replays.
    const histories = await Promise.all(
      names.map(async (name) => ({ workflowId: name, history: await read(name) })),
    )
    for await (const { workflowId, error } of Worker.runReplayHistories(options, histories))
      ends.set(workflowId, error)
  })
  for (const name of names)
    test(`the stored history ${name}`, () => {
      assert.ok(ends.has(name), 'it was replayed')
      assert.ifError(ends.get(name))
    })

  test('and the stored histories of two ends as if they were traced', async () => {
    for (const name of ['image-task-completed.json', 'video-task-completed.json']) {
      const history = (await read(name)) as History
      const [started] = history.events
      Object.assign(started?.workflowExecutionStartedEventAttributes ?? {}, { header: TRACED })
      await Worker.runReplayHistory(options, history)
    }
  })

  test('and a history of other steps is rejected', async () => {
    const text = await readFile(new URL('image-task-completed.json', FOLDER), 'utf8')
    const history = JSON.parse(text.replaceAll('renderImageTask', 'renderSomething')) as unknown
    await assert.rejects(Worker.runReplayHistory(options, history), {
      name: 'DeterminismViolationError',
    })
  })
})
