import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'

import { makeThreadPool, type ThreadRun } from '../../../src/platform/adapters/thread-pool.ts'
import { PATIENCE_MS } from '../../support/patience.ts'

/** Repeats its order, and eats memory or time where that says so. */
const PROGRAM = `
  import { parentPort, threadId } from 'node:worker_threads'
  parentPort.on('message', (order) => {
    parentPort.postMessage(order + ' ' + threadId)
    const eaten = []
    if (order === 'eat') for (;;) eaten.push(new Array(100_000).fill(eaten))
    while (order === 'spin');
  })
`

describe('a pool of threads', { timeout: PATIENCE_MS }, () => {
  const pool = makeThreadPool<string, string>(
    new URL(`data:text/javascript,${encodeURIComponent(PROGRAM)}`),
    { maxOldGenerationSizeMb: 32 },
  )
  after(() => pool.close())
  const run = (order: string, more: Partial<ThreadRun<string, string, string>> = {}) =>
    pool.run({
      order,
      signal: new AbortController().signal,
      onMessage: (result) => ({ result }),
      ...more,
    })

  test('keeps a thread for the next order', async () => {
    assert.equal(await run('one'), (await run('two')).replace('two', 'one'))
  })

  test('ends a thread that takes more memory than it may, and serves the next order', async () => {
    await assert.rejects(run('eat', { onMessage: () => undefined }), {
      code: 'ERR_WORKER_OUT_OF_MEMORY',
    })
    assert.match(await run('one'), /^one/)
  })

  test('ends a thread whose order is aborted, and serves the next order', async () => {
    const stop = new AbortController()
    const onMessage = (): undefined => {
      stop.abort(new Error('too late'))
    }
    await assert.rejects(run('spin', { signal: stop.signal, onMessage }), /too late/)
    assert.match(await run('one'), /^one/)
  })

  test('ends a thread that an order has spent', async () => {
    const first = await run('one', { onMessage: (result) => ({ result, isSpent: true }) })
    assert.notEqual(first, await run('one'))
  })
})
