import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, test } from 'node:test'

import { AWAITS_OUTAGE, startService } from '../support/service.ts'
import type { Service } from '../support/service.ts'
import { waitFor } from '../support/wait.ts'
import { makeZip } from '../support/zip.ts'
import { PENDING, makeRegistryClient } from './registry-client.ts'
import type { PublishedVersion, RegistryClient } from './registry-client.ts'
import { assertNothingLeft, assertVersionWorkflows, assertVersions } from './registry-ledger.ts'
import { startOwnPostgres, startOwnTemporal } from './servers.ts'
import type { OwnPostgres, OwnTemporal } from './servers.ts'

describe('versions whose publication and checks', () => {
  let postgres: OwnPostgres
  let temporal: OwnTemporal
  let service: Service
  let client: RegistryClient
  const sent = new Map<string, Buffer>()

  before(async () => {
    ;[postgres, temporal] = await Promise.all([startOwnPostgres(), startOwnTemporal()])
    service = await startService({
      database: postgres.database,
      env: {
        ...AWAITS_OUTAGE,
        TEMPORAL_ADDRESS: temporal.server.address,
        RECONCILE_AFTER_SECONDS: '3',
        HEARTBEAT_SECONDS: '3',
      },
    })
    client = await makeRegistryClient(service)
  })
  after(async () => {
    await service.stop()
    await temporal.stop()
  })

  const makeArchive = () => makeZip(randomBytes(1000), 'pack/data.bin')
  const publishAll = (name: string, count: number): Promise<PublishedVersion[]> =>
    Promise.all(
      Array.from({ length: count }, (_, n) => client.publishUntilAnswered(`${name}-${n}`)),
    )
  const upload = async ({ id, signedUrl }: PublishedVersion): Promise<void> => {
    const bytes = makeArchive()
    await client.uploadUntilTaken(signedUrl, bytes)
    sent.set(id, bytes)
  }
  const publishAndUpload = async (name: string, count: number): Promise<void> => {
    await Promise.all((await publishAll(name, count)).map(upload))
  }

  test('PostgreSQL leaves in the middle end Active, each once', async () => {
    await publishAndUpload('before', 4)
    const under = publishAndUpload('under', 8)
    await killInTransactions()
    await postgres.server.restart()
    await under
    await assertVersions(service, sent)
  })

  /** Kills the server while transactions of an api or a worker wait: else most would be between two queries. */
  const killInTransactions = async (): Promise<void> => {
    const { sql } = postgres.database
    const locked = sql.begin(async (sql) => {
      await sql`lock table version in exclusive mode`
      await waitFor('transactions wait for the lock', async () => {
        const waiting = await sql`select from pg_stat_activity where wait_event_type = 'Lock'`
        return waiting.length >= 3
      })
      await postgres.server.kill()
    })
    await assert.rejects(locked)
  }

  test('Temporal is away for are answered as ever, and end Active once it is back', async () => {
    const [waiting] = await publishAll('awaited', 1)
    await temporal.server.kill()
    await publishAndUpload('away', 4)
    if (waiting) await upload(waiting)
    assert.equal((await client.read('away-0')).status, PENDING)
    await temporal.server.restart()
    await assertVersions(service, sent)
    await assertVersionWorkflows(service, temporal.server.address, [...sent.keys()])
  })

  test('Temporal has forgotten are begun again, before and after the upload', async () => {
    await service.entry('media').kill()
    const [awaited, ...uploaded] = await publishAll('forgotten', 4)
    await Promise.all(uploaded.map(upload))
    await waitFor('Temporal has been told', async () => {
      const rows = await postgres.database.sql`select from outbox where dispatched_at is null`
      return rows.length === 0
    })
    await temporal.lose()
    // Workers of a server that knows nothing any more are restarted by whoever runs them.
    await service.entry('core').kill()
    await Promise.all([service.start('core'), service.start('media')])
    if (awaited) await upload(awaited)
    await assertVersions(service, sent)
    await assertNothingLeft(service)
  })
})
