import assert from 'node:assert/strict'
import { relative } from 'node:path'

import { Client, Connection } from '@temporalio/client'

import { sha256Of } from '../support/digest.ts'
import type { Service } from '../support/service.ts'
import { waitFor } from '../support/wait.ts'
import { ageScratch, untilSwept } from './scratch.ts'

interface VersionRow {
  id: string
  status: string
  downloadPath: string
  sha256: string
  storageKey: string
  moves: { from: string | null; to: string; reason: string }[]
}

const PENDING = 'NodeVersionStatusPending'
const ACTIVE = 'NodeVersionStatusActive'
/** What a version goes through that nothing is wrong with; each once, whatever was killed. */
const MOVES = [
  { from: null, to: PENDING, reason: 'waiting for the archive' },
  { from: PENDING, to: PENDING, reason: 'archive received, checks are running' },
  { from: PENDING, to: ACTIVE, reason: 'Passed automated checks' },
]

/**
 * Waits until every version of the service has been decided on, then asserts what holds of each: the ids are the only
 * versions there are, each is Active by its moves and none else, has the archive that was sent last, at its key and over
 * HTTP, and nothing else lies in the store.
 */
export const assertVersions = async (
  service: Service,
  sent: ReadonlyMap<string, Buffer>,
): Promise<void> => {
  await waitFor('all versions are decided on', () => areDecided(service), 120_000)
  const versions = await readVersions(service)
  assert.deepEqual(versions.map(({ id }) => id).toSorted(), [...sent.keys()].toSorted())
  for (const { id, status, sha256, downloadPath, moves } of versions) {
    assert.equal(status, ACTIVE)
    assert.deepEqual(moves, MOVES)
    assert.equal(sha256, sha256Of(sent.get(id) ?? Buffer.alloc(0)))
    const download = await fetch(service.baseUrl + downloadPath)
    assert.equal(sha256Of(Buffer.from(await download.arrayBuffer())), sha256)
  }
  const keys = versions.map(({ storageKey }) => storageKey).toSorted()
  await waitFor('only the archives are left', async () => {
    const files = (await service.listFiles()).map((file) => relative(service.storagePath, file))
    const found = files.filter((file) => /^(archives|uploads)\//.test(file))
    return found.toSorted().join() === keys.join()
  })
}

const areDecided = async ({ database: { sql } }: Service): Promise<boolean> => {
  const open = await sql`select from version where status = ${PENDING}`
  return open.length === 0
}

const readVersions = async ({ database: { sql } }: Service): Promise<VersionRow[]> =>
  await sql<VersionRow[]>`
    select v.id, v.status, a.sha256, a.storage_key as "storageKey",
      '/archives/' || n.publisher_id || '/' || n.id || '/' || v.version || '/node.zip' as "downloadPath",
      (
        select json_agg(json_build_object('from', from_status, 'to', to_status, 'reason', reason)
          order by m.at, m.id)
        from version_move m where m.version_id = v.id
      ) as moves
    from version v join node n on n.id = v.node_id left join archive a on a.version_id = v.id
  `

/** Asserts that Temporal has exactly the workflows of these versions, one of each kind, and that all have ended well. */
export const assertVersionWorkflows = async (
  service: Service,
  address: string,
  ids: readonly string[],
): Promise<void> => {
  const connection = await Connection.connect({ address })
  try {
    const { workflow } = new Client({ connection })
    const query = `TaskQueue = '${service.taskQueue}' and WorkflowType != 'deliverFirst'`
    const expected = ids.flatMap((id) => [
      `publish-version/${id}`,
      `receive-archive/${id}`,
      `extract-host-nodes/${id}`,
    ])
    await waitFor('every workflow has completed', async () => {
      const found: string[] = []
      for await (const { workflowId, status } of workflow.list({ query }))
        found.push(status.name === 'COMPLETED' ? workflowId : `${workflowId} ${status.name}`)
      return found.toSorted().join() === expected.toSorted().join()
    })
  } finally {
    await connection.close()
  }
}

/** Waits until Temporal knows all there is to know, and nothing unfinished lies in the store. */
export const assertNothingLeft = async (service: Service): Promise<void> => {
  await waitFor('the outbox is empty', async () => {
    const rows = await service.database.sql`select from outbox where dispatched_at is null`
    return rows.length === 0
  })
  await ageScratch(service)
  await untilSwept(service)
}
