import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'

import type { Entry } from '../support/entry.ts'
import { startService } from '../support/service.ts'
import type { Service } from '../support/service.ts'
import { temporalAddress } from '../support/stack.ts'
import { waitFor } from '../support/wait.ts'
import { writeZip } from '../support/zip-writer.ts'
import { readParent, untilReading } from './archive-readers.ts'
import { listEngineProcesses } from './engine-processes.ts'
import { ACTIVE, VERSION, makeRegistryClient } from './registry-client.ts'
import type { RegistryClient } from './registry-client.ts'
import { assertNothingLeft, assertVersionWorkflows, assertVersions } from './registry-ledger.ts'

/** More host nodes than one statement stores, or one page shows. */
const NODES = 1200
const PAGE = 1000
const PACK = `
class Cup:
    RETURN_TYPES = ("IMAGE",)
    FUNCTION = "run"
NODE_CLASS_MAPPINGS = {f"Kiln Cup {i:04}": Cup for i in range(${NODES})}
`
/** Takes its reader about two seconds. */
const SLOW = `${PACK}
long = "kiln " * 200000
for i in range(300): x = long.count("n k")
`
/** The second transaction of a version's core worker makes the host nodes readable. */
const CORE_LINES = ['move.before-commit:2', 'move.after-commit:2']
const MEDIA_LINES = ['inspect.before-results', 'inspect.after-results']

const makePack = (source: string): Buffer =>
  writeZip([{ name: '__init__.py', data: source, method: 8 }])

describe('archives whose readers are killed', () => {
  let service: Service
  let client: RegistryClient
  const sent = new Map<string, Buffer>()
  /** What was seen of each node's host nodes while it was published. */
  const seen = new Map<string, string[]>()
  const watching: Promise<void>[] = []
  let isOver = false

  before(async () => {
    service = await startService({ roles: ['api', 'core', 'media'] })
    client = await makeRegistryClient(service)
  })
  after(async () => {
    isOver = true
    await Promise.allSettled(watching)
    await service.stop()
  })

  const look = async (nodeId: string): Promise<string> => {
    const path = `/nodes/${nodeId}/versions/${VERSION}/host-nodes?limit=${PAGE}`
    const { status, body } = await client.alice.get(path)
    assert.equal(status, 200, JSON.stringify(body))
    const { host_nodes: nodes, total } = body as unknown as { host_nodes: object[]; total: number }
    return `${nodes.length} of ${total}`
  }
  /** Reads the host nodes over and over until there are some. */
  const watch = async (nodeId: string): Promise<void> => {
    const all: string[] = []
    seen.set(nodeId, all)
    while (!isOver && all.at(-1) !== FULL) {
      const now = await look(nodeId)
      if (now !== all.at(-1)) all.push(now)
    }
  }
  const publish = async (nodeId: string, source: string): Promise<void> => {
    const { id, signedUrl } = await client.publishUntilAnswered(nodeId)
    const bytes = makePack(source)
    sent.set(id, bytes)
    if (nodeId !== CRASHING) watching.push(watch(nodeId))
    await client.uploadUntilTaken(signedUrl, bytes)
  }
  const untilActive = async (nodeId: string): Promise<void> => {
    await waitFor(
      `${nodeId} is Active`,
      async () => (await client.read(nodeId)).status === ACTIVE,
      90_000,
    )
  }
  const readExtraction = async (nodeId: string): Promise<unknown> => {
    const { body } = await client.alice.get(`/nodes/${nodeId}/versions/${VERSION}/findings`)
    return body['extraction']
  }

  test('are read by another process when the child is killed', async () => {
    await publish('child-killed', SLOW)
    process.kill(await untilReading(service.storagePath), 'SIGKILL')
    await untilActive('child-killed')
    assert.equal(await look('child-killed'), FULL)
  })

  test('have failed when each of their children is killed, and are scanned all the same', async () => {
    await publish(CRASHING, SLOW)
    process.kill(await untilReading(service.storagePath), 'SIGKILL')
    process.kill(await untilReading(service.storagePath), 'SIGKILL')
    await untilActive(CRASHING)
    assert.equal(await look(CRASHING), '0 of 0')
    const failed = { status: 'failed', reason: 'crashed', partial: true }
    assert.deepEqual(await readExtraction(CRASHING), failed)
  })

  test('are read by another worker when theirs is killed, which ends the child that hangs', async () => {
    const workers = [service.entry('media'), await service.start('media')]
    await publish('worker-killed', SLOW)
    const child = await untilReading(service.storagePath)
    // It sees nothing of its parent's end, as one that hangs.
    process.kill(child, 'SIGSTOP')
    const parent = await readParent(child)
    await workers.find(({ pid }) => pid === parent)?.kill()
    await untilActive('worker-killed')
    await waitFor(`${child} has been ended`, async () => {
      const left = await listEngineProcesses(service.storagePath)
      return !left.includes(child)
    })
    await Promise.all(workers.map((worker) => worker.kill()))
    await service.start('media')
  })

  for (const [role, lines] of [
    ['media', MEDIA_LINES],
    ['core', CORE_LINES],
  ] as const)
    test(`pass when workers of the role ${role} die at ${lines.join(', ')}`, async () => {
      await service.entry(role).kill()
      const armed: Entry[] = await Promise.all(
        lines.map((failpoint) => service.start(role, { FAILPOINT: failpoint })),
      )
      const names = Array.from({ length: 4 }, (_, n) => `${role}-${n}`)
      await Promise.all(names.map((name) => publish(name, PACK)))
      const ends = await Promise.all(armed.map(({ ended }) => ended))
      assert.deepEqual([...new Set(ends)], ['SIGKILL'])
      await service.start(role)
      await Promise.all(names.map(untilActive))
    })

  test('never showed a part of their host nodes', async () => {
    await Promise.all(watching)
    for (const [nodeId, all] of seen)
      assert.ok(
        all.every((now) => now === '0 of 0' || now === FULL),
        `${nodeId}: ${all.join(', ')}`,
      )
  })

  test('leave each version Active by one move, and no process but that which waits for the next', async () => {
    await assertVersions(service, sent)
    await assertVersionWorkflows(service, temporalAddress(), [...sent.keys()])
    await assertNothingLeft(service)
    service.entry('media').signal('SIGTERM')
    assert.equal(await service.entry('media').ended, '0')
    assert.deepEqual(await listEngineProcesses(service.storagePath), [])
    const records = (await service.listFiles()).filter((file) => file.endsWith('.child.json'))
    assert.deepEqual(records, [])
  })
})

const FULL = `${PAGE} of ${NODES}`
const CRASHING = 'crashing'
