import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

import { makeRegistry, upload } from '../registry/http/registry-support.ts'
import type { Added, Owned } from '../registry/http/registry-support.ts'
import { useService } from '../support/service.ts'
import { waitFor } from '../support/wait.ts'
import { writeZip } from '../support/zip-writer.ts'
import { assertMembers, expectStatus, listOf } from '../support/client.ts'
import { readParent, untilReading } from './archive-readers.ts'
import { HEARTBEAT } from './calls.ts'
import { listEngineProcesses } from './engine-processes.ts'
import { untilCleaned } from './scratch.ts'

const PENDING = 'NodeVersionStatusPending'
const ACTIVE = 'NodeVersionStatusActive'

/** More host nodes than one statement stores, or one page shows. */
const NODES = 1200
const PAGE = 1000
const ALL = `${PAGE} of ${NODES}`
const NONE = '0 of 0'

/** Takes its reader about two seconds. */
const SLOW_PACK = `
class Cup:
    RETURN_TYPES = ("IMAGE",)
    FUNCTION = "run"
NODE_CLASS_MAPPINGS = {f"Kiln Cup {i:04}": Cup for i in range(${NODES})}
long = "kiln " * 200000
for i in range(300): x = long.count("n k")
`

describe('archives whose readers are killed', () => {
  const service = useService({ env: HEARTBEAT })
  let owned: Owned
  const end = new AbortController()
  /** States of each version's host nodes that were seen while it was published. */
  const watching: Promise<string[]>[] = []

  before(async () => void (owned = await makeRegistry(service).addPublisher()))
  after(() => end.abort())

  const publish = async (): Promise<Added> => {
    const added = await owned.addVersion()
    watching.push(watch(added))
    const zip = writeZip([{ name: '__init__.py', data: SLOW_PACK, method: 8 }])
    assert.equal((await upload(added.signedUrl, zip)).status, 200)
    return added
  }
  const check = async ({ version }: Added): Promise<string> => {
    const response = await owned.owner.get(`${version}/host-nodes?limit=${PAGE}`)
    const { total } = expectStatus(response, 200).body
    return `${listOf(response, 'host_nodes').length} of ${String(total)}`
  }
  /** Reads the host nodes over and over until there are some. */
  const watch = async (added: Added): Promise<string[]> => {
    const seen: string[] = []
    while (!end.signal.aborted && seen.at(-1) !== ALL) {
      const now = await check(added)
      if (now !== seen.at(-1)) seen.push(now)
      // Without a pause it takes a whole core from those that it watches.
      await sleep(10)
    }
    return seen
  }
  /** Waits until it is Active, which it becomes by one move. */
  const untilActive = async ({ version }: Added) => {
    const readStatus = async () => String((await owned.owner.get(version)).body['status'])
    await waitFor(`${version} is Active`, async () => (await readStatus()) === ACTIVE)
    const response = await owned.owner.get(`${version}/findings`)
    const transitions = listOf(response, 'moves').map(({ to }) => to)
    assert.deepEqual(transitions, [PENDING, PENDING, ACTIVE])
    return response.body
  }

  test('are read by another process when the child is killed', async () => {
    const added = await publish()
    process.kill(await untilReading(service.storagePath), 'SIGKILL')
    await untilActive(added)
    assert.equal(await check(added), ALL)
  })

  test('have failed when each of their children is killed, and are scanned all the same', async () => {
    const added = await publish()
    process.kill(await untilReading(service.storagePath), 'SIGKILL')
    process.kill(await untilReading(service.storagePath), 'SIGKILL')
    const { extraction } = await untilActive(added)
    assert.equal(await check(added), NONE)
    assertMembers(extraction, { status: 'failed', reason: 'crashed', partial: true })
  })

  test('are read by another worker when theirs is killed, which ends the child that hangs', async () => {
    const workers = [service.entry('media'), await service.start('media')]
    const added = await publish()
    const child = await untilReading(service.storagePath)
    // It sees nothing of its parent's end, as one that hangs.
    process.kill(child, 'SIGSTOP')
    const parent = await readParent(child)
    await workers.find(({ pid }) => pid === parent)?.kill()
    await untilActive(added)
    assert.equal(await check(added), ALL)
    await waitFor(`${child} has been ended`, async () => {
      const left = await listEngineProcesses(service.storagePath)
      return !left.includes(child)
    })
    await Promise.all(workers.map((worker) => worker.kill()))
    await service.start('media')
  })

  test('never showed a part of their host nodes', async () => {
    end.abort()
    const parts = (await Promise.all(watching)).flat().filter((now) => now !== NONE && now !== ALL)
    assert.deepEqual(parts, [])
  })

  test('leave no file, and no process but that which waits for the next', async () => {
    await untilCleaned(service)
    service.entry('media').signal('SIGTERM')
    assert.equal(await service.entry('media').end(), '0')
    assert.deepEqual(await listEngineProcesses(service.storagePath), [])
    const records = (await service.listFiles()).filter((file) => file.endsWith('.child.json'))
    assert.deepEqual(records, [])
  })
})
