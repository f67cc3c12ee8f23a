import assert from 'node:assert/strict'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'

import type { Client } from '../support/client.ts'
import { startService } from '../support/service.ts'
import type { Service } from '../support/service.ts'
import { waitFor } from '../support/wait.ts'
import { makeZip } from '../support/zip.ts'
import { clientOf } from './calls.ts'
import { operate } from './operate.ts'
import { ACTIVE, DELETED, PENDING, VERSION, makeRegistryClient } from './registry-client.ts'
import type { PublishedVersion, RegistryClient } from './registry-client.ts'
import { assertNothingLeft } from './registry-ledger.ts'

/** Nobody listens there. */
const NOWHERE = '127.0.0.1:1'
/** Checks that give up at once, instead of after a minute and a half. */
const IMPATIENT = { tries: 2, retrySeconds: 0.01, maxRetrySeconds: 0.01 }
const NOT_STORED =
  'checks could not run (the archive could not be read or stored); an operator can retry'
const MISSING = 'checks could not run (the stored archive is missing); an operator can retry'
const ARCHIVE = makeZip('NODE_CLASS_MAPPINGS = {}')

/** Retried by the route, as soon as it can be seen that there is something to retry. */
const RETRIED = Array.from({ length: 6 }, (_, n) => `retried-${n}`)
const BLOCKED = [...RETRIED, 'restarted']
const NODES = ['fine', ...BLOCKED, 'lost', 'expired']

describe('versions published while Temporal is away', () => {
  let service: Service
  let client: RegistryClient
  let admin: Client
  const published = new Map<string, PublishedVersion>()
  const idOf = (nodeId: string): string => published.get(nodeId)?.id ?? ''

  before(async () => {
    service = await startService({
      roles: ['core', 'media'],
      env: { ADMIN_SUBJECTS: 'root' },
    })
    await service.start('api', { TEMPORAL_ADDRESS: NOWHERE })
    client = await makeRegistryClient(service)
    admin = await clientOf(service, 'root')
  })
  after(() => service.stop())

  /** Lets the store take no archive of this version. */
  const block = async (nodeId: string): Promise<void> => {
    await mkdir(join(service.storagePath, 'archives'), { recursive: true })
    await writeFile(join(service.storagePath, 'archives', idOf(nodeId)), 'a file, and no folder')
  }
  const mend = (nodeId: string) => rm(join(service.storagePath, 'archives', idOf(nodeId)))
  const until = async (nodeId: string, status: string, reason?: string): Promise<void> => {
    await waitFor(`${nodeId} is ${status}, ${reason}`, async () => {
      const seen = await client.read(nodeId)
      return seen.status === status && (reason === undefined || seen.status_reason === reason)
    })
  }
  const retry = async (nodeId: string): Promise<void> => {
    const { status, body } = await admin.post(
      `/admin/nodes/${nodeId}/versions/${VERSION}/retry`,
      undefined,
    )
    assert.equal(status, 200, JSON.stringify(body))
    const { status: now, status_reason: reason } = body as unknown as Record<string, string>
    assert.deepEqual([now, reason], [PENDING, 'archive received, checks are running'])
  }

  test('are accepted with their archives all the same', async () => {
    for (const nodeId of NODES) {
      const version = await client.publish(nodeId)
      assert.ok(version, `${nodeId} is published`)
      published.set(nodeId, version)
      if (nodeId !== 'expired')
        assert.equal(await client.upload(version.signedUrl, ARCHIVE), 200, nodeId)
    }
    assert.equal((await client.read('fine')).status, PENDING)
    assert.ok(!('downloadUrl' in (await client.read('fine'))), 'no link to what is unchecked')
  })

  test('pass once it is back, but for those whose archive the store does not take', async () => {
    await Promise.all(BLOCKED.map(block))
    await rm(join(service.storagePath, 'uploads', idOf('lost')), { recursive: true })
    const { sql } = service.database
    await sql`
      update version set upload_expires_at = clock_timestamp() - interval '6 minutes'
      where id = ${idOf('expired')}
    `
    await sql`
      update outbox
      set args = jsonb_set(args, '{0,timing}', (args #> '{0,timing}') || ${sql.json(IMPATIENT)})
      where kind = 'start'
    `
    await service.entry('api').kill()
    await service.start('api')
    await until('fine', ACTIVE, 'Passed automated checks')
  })

  test('say why they are not checked, and pass when an admin has them checked again', async () => {
    await Promise.all(
      RETRIED.map(async (nodeId) => {
        await until(nodeId, PENDING, NOT_STORED)
        await mend(nodeId)
        // Its workflow may not have ended yet.
        await retry(nodeId)
      }),
    )
    await Promise.all(RETRIED.map((nodeId) => until(nodeId, ACTIVE)))
    const again = await admin.post(`/admin/nodes/${RETRIED[0]}/versions/${VERSION}/retry`, {})
    assert.equal(again.body.error, 'nothing_to_retry')
  })

  test('pass when an operator restarts them', async () => {
    await until('restarted', PENDING, NOT_STORED)
    await mend('restarted')
    const id = idOf('restarted')
    const { output, code } = await operate(service, 'restart', id)
    assert.deepEqual([output, code], [`publish-version/${id} was started again\n`, 0])
    await until('restarted', ACTIVE)
  })

  test('whose archive the store has lost pass when it is sent again', async () => {
    await until('lost', PENDING, MISSING)
    const { signedUrl } = published.get('lost') ?? { signedUrl: '' }
    assert.equal(await client.upload(signedUrl, ARCHIVE), 200)
    await retry('lost')
    await until('lost', ACTIVE)
  })

  test('whose archive never came end, and their numbers are free again', async () => {
    const versions = async (): Promise<Record<string, string>[]> => {
      const { body } = await client.alice.get(
        `/nodes/expired/versions?statuses=${DELETED}&statuses=${PENDING}&statuses=${ACTIVE}`,
      )
      return body as unknown as Record<string, string>[]
    }
    await waitFor('it has ended', async () => (await versions())[0]?.['status'] === DELETED)
    const link = published.get('expired')?.signedUrl ?? ''
    assert.equal(await client.upload(link, ARCHIVE), 409, 'its link leads nowhere')
    const { id, signedUrl } = await client.publishUntilAnswered('expired')
    assert.notEqual(id, idOf('expired'))
    await client.uploadUntilTaken(signedUrl, ARCHIVE)
    await until('expired', ACTIVE)
    const seen = (await versions()).map((version) => [version['status'], version['status_reason']])
    assert.deepEqual(seen, [
      [ACTIVE, 'Passed automated checks'],
      [DELETED, 'archive was not uploaded in time'],
    ])
  })

  test('leave nothing to tell Temporal and no unfinished file', async () => {
    await assertNothingLeft(service)
    const uploads = (await service.listFiles()).filter((file) => file.includes('/uploads/'))
    assert.deepEqual(uploads, [])
  })
})
