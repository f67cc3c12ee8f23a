import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'

import { Client, Connection } from '@temporalio/client'
import { SearchAttributeType, defineSearchAttributeKey } from '@temporalio/common'

import { useFolder } from '../support/folder.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { startTemporalOnPostgres, whyNoTemporalServer } from '../support/temporal-postgres.ts'
import type { TemporalOnPostgres } from '../support/temporal-postgres.ts'
import { startService } from '../support/service.ts'
import { waitFor } from '../support/wait.ts'
import { makeZip } from '../support/zip.ts'
import { makeRegistry, untilDecided, upload } from '../http/registry-support.ts'

/** As long as a version may be, one more than a keyword of Temporal on PostgreSQL. */
const VERSION = `1.0.0-${'a'.repeat(250)}`
const missing = await whyNoTemporalServer()

describe('on a Temporal server with PostgreSQL', { skip: missing ?? false }, () => {
  let temporal: TemporalOnPostgres
  let connection: Connection
  let client: Client
  const folder = useFolder(async () => {
    await connection?.close()
    await temporal?.stop()
  })

  before(async () => {
    temporal = await startTemporalOnPostgres({
      postgresUrl: process.env['TEST_DATABASE_URL'] ?? '',
      dataDir: folder,
      env: { SQL_MAX_CONNS: '5', SQL_VIS_MAX_CONNS: '2' },
    })
    const { address } = temporal
    connection = await Connection.connect({ address, connectTimeout: PATIENCE_MS })
    client = new Client({ connection })
  })

  /** Ids of the workflows that operators find. */
  const find = async (query: string): Promise<string[]> => {
    const ids: string[] = []
    for await (const { workflowId } of client.workflow.list({ query })) ids.push(workflowId)
    return ids
  }

  test('a version of 256 characters is published and found by its first 255', async () => {
    const service = await startService({ env: { TEMPORAL_ADDRESS: temporal.address } })
    try {
      const registry = makeRegistry(service)
      const publisher = await registry.addPublisher()
      const added = await publisher.addVersion({ version: VERSION })
      const zip = makeZip('NODE_CLASS_MAPPINGS = {}\n', '__init__.py')
      assert.equal((await upload(added.signedUrl, zip)).status, 200)
      const { status, version } = await untilDecided(registry, added.version)
      assert.deepEqual([status, version], ['NodeVersionStatusActive', VERSION])
      const id = `publish-version/${added.id}`
      const query = `KilnVersion = '${VERSION.slice(0, 255)}' and WorkflowId = '${id}'
        and KilnStatus = 'NodeVersionStatusActive' and ExecutionStatus = 'Completed'`
      await waitFor('it is found', async () => (await find(query)).length === 1)
    } finally {
      await service.stop()
    }
  })

  test('a keyword of 256 characters would keep a workflow out of every list', async () => {
    const key = defineSearchAttributeKey('KilnVersion', SearchAttributeType.KEYWORD)
    const start = (workflowId: string, value: string) =>
      client.workflow.start('waiting', {
        taskQueue: 'nobody',
        workflowId,
        typedSearchAttributes: [{ key, value }],
      })
    const { workflowId } = await start('uncut', VERSION)
    await start('cut', VERSION.slice(0, 255))
    await waitFor(
      'the cut one is found',
      async () => (await find(`WorkflowId = 'cut'`)).length === 1,
    )
    await waitFor('PostgreSQL rejects the other one', async () =>
      temporal.log.some((line) => /value too long for type character varying\(255\)/.test(line)),
    )
    assert.deepEqual(await find(`WorkflowId = 'uncut'`), [])
    const { status } = await client.workflow.getHandle(workflowId).describe()
    assert.equal(status.name, 'RUNNING')
  })
})
