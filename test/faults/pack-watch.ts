import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'

import type { Service } from '../support/service.ts'
import { temporalAddress } from '../support/stack.ts'
import { waitFor } from '../support/wait.ts'
import { writeZip } from '../support/zip-writer.ts'
import { listEngineProcesses } from './engine-processes.ts'
import { ACTIVE, VERSION, makeRegistryClient } from './registry-client.ts'
import { assertNothingLeft, assertVersionWorkflows, assertVersions } from './registry-ledger.ts'

/** More host nodes than one statement stores, or one page shows. */
const NODES = 1200
const PAGE = 1000
export const ALL = `${PAGE} of ${NODES}`
export const NONE = '0 of 0'

export const PACK = `
class Cup:
    RETURN_TYPES = ("IMAGE",)
    FUNCTION = "run"
NODE_CLASS_MAPPINGS = {f"Kiln Cup {i:04}": Cup for i in range(${NODES})}
`
/** Takes its reader about two seconds. */
export const SLOW_PACK = `${PACK}
long = "kiln " * 200000
for i in range(300): x = long.count("n k")
`

/** Publishes packs to a service and reads their host nodes all the while. */
export const makePackWatch = async (service: Service) => {
  const client = await makeRegistryClient(service)
  const sent = new Map<string, Buffer>()
  const end = new AbortController()
  /** What was seen of each node's host nodes while it was published. */
  const watching: Promise<string[]>[] = []

  const look = async (nodeId: string): Promise<string> => {
    const path = `/nodes/${nodeId}/versions/${VERSION}/host-nodes?limit=${PAGE}`
    const { status, body } = await client.alice.get(path)
    assert.equal(status, 200, JSON.stringify(body))
    const { host_nodes: nodes, total } = body as unknown as { host_nodes: object[]; total: number }
    return `${nodes.length} of ${total}`
  }
  /** Reads the host nodes over and over until there are some. */
  const watch = async (nodeId: string): Promise<string[]> => {
    const seen: string[] = []
    while (!end.signal.aborted && seen.at(-1) !== ALL) {
      const now = await look(nodeId)
      if (now !== seen.at(-1)) seen.push(now)
      // Without a pause it takes a whole core from those that it watches.
      await sleep(10)
    }
    return seen
  }

  return {
    client,
    look,
    async publish(nodeId: string, source: string): Promise<void> {
      const { id, signedUrl } = await client.publishUntilAnswered(nodeId)
      const bytes = writeZip([{ name: '__init__.py', data: source, method: 8 }])
      sent.set(id, bytes)
      watching.push(watch(nodeId))
      await client.uploadUntilTaken(signedUrl, bytes)
    },
    untilActive: async (nodeId: string): Promise<void> => {
      await waitFor(
        `${nodeId} is Active`,
        async () => (await client.read(nodeId)).status === ACTIVE,
        90_000,
      )
    },
    /** Asserts that no part of a version's host nodes was ever readable. */
    async assertAllOrNone(): Promise<void> {
      end.abort()
      for (const seen of await Promise.all(watching))
        assert.ok(
          seen.every((now) => now === NONE || now === ALL),
          seen.join(', '),
        )
    },
    /** Asserts what holds of every version, and that no process is left but that which waits for the next archive. */
    async assertWhole(): Promise<void> {
      await assertVersions(service, sent)
      await assertVersionWorkflows(service, temporalAddress(), [...sent.keys()])
      await assertNothingLeft(service)
      service.entry('media').signal('SIGTERM')
      assert.equal(await service.entry('media').ended, '0')
      assert.deepEqual(await listEngineProcesses(service.storagePath), [])
      const records = (await service.listFiles()).filter((file) => file.endsWith('.child.json'))
      assert.deepEqual(records, [])
    },
    async stop(): Promise<void> {
      end.abort()
      await Promise.allSettled(watching)
    },
  }
}

export type PackWatch = Awaited<ReturnType<typeof makePackWatch>>
