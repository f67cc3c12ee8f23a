import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'

import type { Client } from '../support/client.ts'
import { startService } from '../support/service.ts'
import type { Role, Service } from '../support/service.ts'
import { temporalAddress } from '../support/stack.ts'
import { clientOf, createTask } from './calls.ts'
import { assertLedger, assertWorkflows } from './ledger.ts'
import { ageScratch, untilSwept } from './scratch.ts'

describe('a worker that is killed', () => {
  let service: Service
  let alice: Client
  const ids: string[] = []
  const restart = async (role: Role, failpoint?: string) => {
    assert.equal(await service.entry(role).ended, 'SIGKILL')
    await service.start(role, failpoint === undefined ? {} : { FAILPOINT: failpoint })
  }

  before(async () => {
    service = await startService({ roles: ['api'] })
    await Promise.all([
      service.start('core', { FAILPOINT: 'move.before-commit' }),
      service.start('media', { FAILPOINT: 'render.after-output' }),
    ])
    alice = await clientOf(service)
  })
  after(() => service.stop())

  test('loses no task, whichever step it was at', async () => {
    for (let made = 0; made < 3; made += 1) ids.push(await createTask(alice))
    await restart('media')
    await restart('core', 'move.after-commit')
    await restart('core')
    const tasks = await assertLedger(service, ids)
    assert.deepEqual(
      tasks.map((task) => task.status),
      ids.map(() => 'COMPLETED'),
    )
    // The attempt that was killed with its results stored was repeated under a fence of its own.
    assert.ok(tasks.some((task) => task.fence > 1))
    await assertWorkflows(service, temporalAddress(), ids)
  })

  test('leaves no unfinished files once another one has looked', async () => {
    await ageScratch(service)
    await untilSwept(service)
  })
})
