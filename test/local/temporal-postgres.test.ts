import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'

import { Client, Connection } from '@temporalio/client'
import { SearchAttributeType, defineSearchAttributeKey } from '@temporalio/common'

import { adviseTemporal } from '../../src/platform/temporal/temporal-advice.ts'
import { readTemporal } from '../../src/platform/settings/temporal.ts'
import { makeCertificate } from '../support/certificate.ts'
import { makeClient } from '../support/client.ts'
import { base64 } from '../support/pictures.ts'
import { useFolder } from '../support/folder.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { startTemporalOnPostgres, whyNoTemporalServer } from '../support/temporal-postgres.ts'
import type { TemporalOnPostgres } from '../support/temporal-postgres.ts'
import { startService } from '../support/service.ts'
import { waitFor } from '../support/wait.ts'
import { makeZip } from '../support/zip.ts'
import { makeRegistry, untilDecided, upload } from '../registry/http/registry-support.ts'

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

describe(
  'on a Temporal server with PostgreSQL and TLS of its own',
  { skip: missing ?? false },
  () => {
    let temporal: TemporalOnPostgres
    const folder = useFolder(() => temporal?.stop())
    const server = makeCertificate(['127.0.0.1', 'temporal.test'])
    const shown = makeCertificate(['kiln'])
    const settings = {
      TEMPORAL_TLS_SERVER_CA_CERT_DATA: server.cert,
      TEMPORAL_TLS_CLIENT_CERT_DATA: shown.cert,
      TEMPORAL_TLS_CLIENT_KEY_DATA: shown.key,
    }

    before(async () => {
      const write = async (name: string, text: string): Promise<string> => {
        const path = join(folder, name)
        await writeFile(path, text)
        return path
      }
      const cert = await write('server.pem', server.cert)
      const key = await write('server.key', server.key)
      temporal = await startTemporalOnPostgres({
        postgresUrl: process.env['TEST_DATABASE_URL'] ?? '',
        dataDir: folder,
        env: {
          SQL_MAX_CONNS: '5',
          SQL_VIS_MAX_CONNS: '2',
          TEMPORAL_TLS_REQUIRE_CLIENT_AUTH: 'true',
          TEMPORAL_TLS_SERVER_CERT: cert,
          TEMPORAL_TLS_SERVER_KEY: key,
          TEMPORAL_TLS_SERVER_CA_CERT: cert,
          TEMPORAL_TLS_INTERNODE_SERVER_NAME: 'temporal.test',
          TEMPORAL_TLS_FRONTEND_CERT: cert,
          TEMPORAL_TLS_FRONTEND_KEY: key,
          TEMPORAL_TLS_FRONTEND_SERVER_NAME: 'temporal.test',
          TEMPORAL_TLS_CLIENT1_CA_CERT: await write('client.pem', shown.cert),
          TEMPORAL_TLS_CLIENT2_CA_CERT: cert,
        },
        target: (address) => readTemporal({ TEMPORAL_ADDRESS: address, ...settings }),
      })
    })

    test('a task ends, and whoever shows no certificate is asked for one', async () => {
      const env = { TEMPORAL_ADDRESS: temporal.address, ...settings }
      const service = await startService({ env })
      try {
        const client = makeClient(
          () => service.baseUrl,
          () => service.token('caller'),
        )
        const id = await client.createImage({ image: await base64() })
        assert.equal((await client.untilEnded('image-upscaler', id)).status, 'COMPLETED')
      } finally {
        await service.stop()
      }
      const { TEMPORAL_TLS_SERVER_CA_CERT_DATA: ca } = settings
      const alone = { TEMPORAL_ADDRESS: temporal.address, TEMPORAL_TLS_SERVER_CA_CERT_DATA: ca }
      assert.match(
        (await adviseTemporal(readTemporal(alone))) ?? '',
        /asks for a client certificate/,
      )
      const plain = readTemporal({ TEMPORAL_ADDRESS: temporal.address })
      assert.match((await adviseTemporal(plain)) ?? '', /speaks TLS, and TEMPORAL_TLS is not set/)
    })
  },
)
