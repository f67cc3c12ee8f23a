import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { makeAskGraph } from '../../../src/registry/http/graph-questions.ts'
import type { ListDeps } from '../../../src/registry/http/deps.ts'

describe('a question about a workflow', () => {
  const ask = (limits: { runMs: number; heapMegabytes: number }, workflow: unknown) =>
    makeAskGraph(
      {} as ListDeps,
      limits,
    )({ name: 'resolve', asked: {}, workflow: JSON.stringify(workflow), bytes: 0 })

  test('is rejected when it takes longer than it may', async () => {
    await assert.rejects(ask({ runMs: 1, heapMegabytes: 100 }, { nodes: [] }), {
      code: 'body_too_large',
      message: '/workflow takes more than 0.001 s or 100 MB to read: send a part of it.',
    })
  })

  test('is rejected when it takes more memory than it may', async () => {
    const nodes = Array.from({ length: 400_000 }, (_, id) => ({ id, type: `t${id}` }))
    await assert.rejects(ask({ runMs: 600_000, heapMegabytes: 16 }, { nodes }), {
      code: 'body_too_large',
    })
  })

  test('is rejected when it is about no workflow', async () => {
    await assert.rejects(ask({ runMs: 600_000, heapMegabytes: 100 }, { nodes: 1 }), {
      code: 'validation_failed',
      message: /^\/workflow must be a workflow as the host saves it .*, got {"nodes":1}$/,
    })
  })
})
