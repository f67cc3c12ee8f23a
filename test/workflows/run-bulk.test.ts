import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { BATCH_SCENARIOS, NONE, OPERATION_SCENARIOS } from './bulk-scenarios.ts'
import { readAttributes } from './scenarios.ts'
import { useTestRunner } from './test-runner.ts'

const BEGIN = [['prepare'], ['work']]
const FINISH = ['finish', null]

describe('the workflow', { concurrency: true }, () => {
  const runner = useTestRunner('bulk')

  test('of a batch works in turns, waits for the open tasks and ends', async () => {
    const { calls, handle } = await runner.bulk('batch', BATCH_SCENARIOS.done)
    assert.deepEqual(calls, [...BEGIN, ['work'], ['watch'], ['watch'], FINISH])
    assert.equal((await readAttributes(handle))['KilnStatus'], 'done')
  })

  test('of a batch without a request does nothing but end', async () => {
    const { calls } = await runner.bulk('batch', BATCH_SCENARIOS.failed)
    assert.deepEqual(calls, [['prepare'], ['finish', NONE]])
  })

  test('of a batch that waits for a quota is cancelled at once, and then cancels its tasks once', async () => {
    const { calls } = await runner.bulk('batch', BATCH_SCENARIOS['cancelled-while-full'])
    const cancels = [
      ['cancel', 0],
      ['cancel', 7],
    ]
    assert.deepEqual(calls, [
      ...BEGIN,
      ['work'],
      ['watch'],
      ...cancels,
      ['watch'],
      ['watch'],
      FINISH,
    ])
  })

  test('of an operation works in turns and ends', async () => {
    const { calls } = await runner.bulk('operation', OPERATION_SCENARIOS.done)
    assert.deepEqual(calls, [...BEGIN, ['work'], FINISH])
  })
})
