import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'

import { Client, Connection } from '@temporalio/client'

import { findTemporalCli } from '../../src/local/temporal-cli.ts'
import { startTemporal } from '../../src/local/temporal.ts'
import type { TemporalServer } from '../../src/local/temporal.ts'
import { useFolder } from '../support/folder.ts'
import { PATIENCE_MS } from '../support/patience.ts'

describe('the Temporal development server', () => {
  let server: TemporalServer
  const folder = useFolder(() => server.stop())

  before(async () => {
    const cli = await findTemporalCli({ env: process.env, say: () => {} })
    server = await startTemporal({ cli, dataDir: folder })
  })

  test('keeps address and workflows over SIGKILL', async () => {
    const { address, pid } = server
    const start = { taskQueue: 'nobody', workflowId: 'kept' }
    await withClient(async (client) => void (await client.workflow.start('waiting', start)))
    await server.kill()
    await server.restart()
    assert.notEqual(server.pid, pid)
    assert.equal(server.address, address)
    await withClient(async (client) => {
      const { status } = await client.workflow.getHandle('kept').describe()
      assert.equal(status.name, 'RUNNING')
    })
  })

  test('serves its web interface at the address it reports', async () => {
    const response = await fetch(`${server.ui}/namespaces/default/workflows`)
    assert.equal(response.status, 200)
    assert.match(response.headers.get('content-type') ?? '', /text\/html/)
  })

  const withClient = async (act: (client: Client) => Promise<void>): Promise<void> => {
    const { address } = server
    const connection = await Connection.connect({ address, connectTimeout: PATIENCE_MS })
    try {
      await act(new Client({ connection }))
    } finally {
      await connection.close()
    }
  }
})
