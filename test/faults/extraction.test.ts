import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'

import { startService } from '../support/service.ts'
import type { Service } from '../support/service.ts'
import { waitFor } from '../support/wait.ts'
import { readParent, untilReading } from './archive-readers.ts'
import { listEngineProcesses } from './engine-processes.ts'
import { ALL, NONE, SLOW_PACK, makePackWatch } from './pack-watch.ts'
import type { PackWatch } from './pack-watch.ts'
import { VERSION } from './registry-client.ts'

describe('archives whose readers are killed', () => {
  let service: Service
  let packs: PackWatch

  before(async () => {
    service = await startService({ roles: ['api', 'core', 'media'] })
    packs = await makePackWatch(service)
  })
  after(async () => {
    await packs?.stop()
    await service?.stop()
  })

  test('are read by another process when the child is killed', async () => {
    await packs.publish('child-killed', SLOW_PACK)
    process.kill(await untilReading(service.storagePath), 'SIGKILL')
    await packs.untilActive('child-killed')
    assert.equal(await packs.look('child-killed'), ALL)
  })

  test('have failed when each of their children is killed, and are scanned all the same', async () => {
    await packs.publish('crashing', SLOW_PACK)
    process.kill(await untilReading(service.storagePath), 'SIGKILL')
    process.kill(await untilReading(service.storagePath), 'SIGKILL')
    await packs.untilActive('crashing')
    assert.equal(await packs.look('crashing'), NONE)
    const failed = { status: 'failed', reason: 'crashed', partial: true }
    const path = `/nodes/crashing/versions/${VERSION}/findings`
    const { body } = await packs.client.alice.get(path)
    assert.deepEqual(body['extraction'], failed)
  })

  test('are read by another worker when theirs is killed, which ends the child that hangs', async () => {
    const workers = [service.entry('media'), await service.start('media')]
    await packs.publish('worker-killed', SLOW_PACK)
    const child = await untilReading(service.storagePath)
    // It sees nothing of its parent's end, as one that hangs.
    process.kill(child, 'SIGSTOP')
    const parent = await readParent(child)
    await workers.find(({ pid }) => pid === parent)?.kill()
    await packs.untilActive('worker-killed')
    assert.equal(await packs.look('worker-killed'), ALL)
    await waitFor(`${child} has been ended`, async () => {
      const left = await listEngineProcesses(service.storagePath)
      return !left.includes(child)
    })
    await Promise.all(workers.map((worker) => worker.kill()))
    await service.start('media')
  })

  test('never showed a part of their host nodes', () => packs.assertAllOrNone())

  test('leave each version Active by one move, and no process but that which waits for the next', () =>
    packs.assertWhole())
})
