import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'

import type { Client } from '../support/client.ts'
import type { Entry } from '../support/entry.ts'
import { startService } from '../support/service.ts'
import type { Service } from '../support/service.ts'
import { temporalAddress } from '../support/stack.ts'
import { clientOf, createTask } from './calls.ts'
import { assertLedger, assertWorkflows } from './ledger.ts'
import { ageScratch, untilSwept } from './scratch.ts'

describe('when workers are killed', () => {
  let service: Service
  let alice: Client
  let workers: Entry[]

  before(async () => {
    service = await startService({ roles: ['api'] })
    workers = await Promise.all([
      service.start('core', { FAILPOINT: 'move.before-commit' }),
      service.start('core', { FAILPOINT: 'move.after-commit' }),
      service.start('media', { FAILPOINT: 'render.after-output' }),
    ])
    alice = await clientOf(service)
  })
  after(async () => {
    await Promise.all(workers.map((worker) => worker.kill()))
    await service.stop()
  })

  test('with results stored, before and after the commit of a move, no task is lost', async () => {
    const ids = await Promise.all(Array.from({ length: 8 }, () => createTask(alice)))
    const [before, later, media] = workers
    assert.equal(await media?.ended, 'SIGKILL')
    await service.start('media')
    assert.deepEqual(await Promise.all([before?.ended, later?.ended]), ['SIGKILL', 'SIGKILL'])
    await service.start('core')
    const tasks = await assertLedger(service, ids)
    assert.deepEqual(new Set(tasks.map((task) => task.status)), new Set(['COMPLETED']))
    // The attempt that was killed with its results stored was repeated under a fence of its own.
    assert.ok(tasks.some((task) => task.fence > 1))
    await assertWorkflows(service, temporalAddress(), ids)
  })

  test('their unfinished files are gone once another one has looked', async () => {
    await ageScratch(service)
    await untilSwept(service)
  })
})
