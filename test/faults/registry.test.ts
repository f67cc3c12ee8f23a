import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, test } from 'node:test'

import { sha256Of } from '../support/digest.ts'
import type { Entry } from '../support/entry.ts'
import { startService } from '../support/service.ts'
import type { Service } from '../support/service.ts'
import { temporalAddress } from '../support/stack.ts'
import { waitFor } from '../support/wait.ts'
import { makeZip } from '../support/zip.ts'
import { ACTIVE, makeRegistryClient } from './registry-client.ts'
import type { PublishedVersion, RegistryClient } from './registry-client.ts'
import { assertNothingLeft, assertVersionWorkflows, assertVersions } from './registry-ledger.ts'

/** Lines of the api from the publication to the signal; a client of its own comes to each. */
const FAILPOINTS = [
  'create.before-commit',
  'create.after-commit',
  'create.after-start',
  'upload.mid-body',
  'archive.after-store',
  'archive.before-commit',
  'archive.after-commit',
  // Of the start, then of the signal.
  'create.after-start:2',
] as const

interface Window {
  failpoint: (typeof FAILPOINTS)[number]
  nodeId: string
  bytes: Buffer
  api?: { baseUrl: string; entry: Entry }
  /** What it answered before it died, if anything. */
  published?: PublishedVersion | undefined
}

describe('an api that is killed while versions are published', () => {
  let service: Service
  let client: RegistryClient
  const sent = new Map<string, Buffer>()
  const windows: Window[] = FAILPOINTS.map((failpoint, index) => ({
    failpoint,
    nodeId: `node-${index}`,
    // More than one read of the body.
    bytes: makeZip(randomBytes(300_000), 'pack/data.bin'),
  }))

  before(async () => {
    service = await startService()
    client = await makeRegistryClient(service)
    // None of the others is left when the one that takes the repetitions starts.
    await service.entry('api').kill()
    const starting = windows.map(async (window) => {
      window.api = await service.startSecondApi({ FAILPOINT: window.failpoint })
    })
    await Promise.all(starting)
  })
  after(() => service.stop())

  for (const window of windows)
    test(`dies at ${window.failpoint}`, async () => {
      const { nodeId, api, bytes, failpoint } = window
      window.published = await client.publish(nodeId, api?.baseUrl)
      if (failpoint === 'create.after-start:2') await untilStarted(window.published?.id)
      if (window.published) await client.upload(window.published.signedUrl, bytes)
      assert.equal(await api?.entry.ended, 'SIGKILL')
    })

  /** A signal overtakes no start. */
  const untilStarted = (id: string | undefined): Promise<unknown> =>
    waitFor('its workflow is started', async () => {
      const started = await service.database.sql`
        select from outbox where workflow_id = ${`publish-version/${id}`} and dispatched_at is not null
      `
      return started.length === 1
    })

  test('dies when its relay has told Temporal', async () => {
    const { entry } = await service.startSecondApi({ FAILPOINT: 'relay.after-start' })
    assert.equal(await entry.ended, 'SIGKILL')
  })

  test('has lost nothing: who comes again gets the same version and has its archive taken', async () => {
    await service.start('api')
    for (const { failpoint, nodeId, published, bytes } of windows) {
      const { id, signedUrl } = published ?? (await client.publishUntilAnswered(nodeId))
      // What was stored and never recorded binds nobody to its bytes.
      const again = failpoint === 'archive.after-store' ? makeZip('other', 'pack/data.bin') : bytes
      await client.uploadUntilTaken(signedUrl, again)
      sent.set(id, again)
    }
  })

  test('and that takes many archives beside the check has the one that was checked', async () => {
    const { id, signedUrl } = await client.publishUntilAnswered('race')
    const archives = Array.from({ length: 16 }, () =>
      makeZip(randomBytes(100_000), 'pack/data.bin'),
    )
    const statuses = await Promise.all(archives.map((bytes) => client.upload(signedUrl, bytes)))
    assert.ok(
      statuses.every((status) => status === 200 || status === 409),
      statuses.join(),
    )
    await waitFor('it is decided', async () => (await client.read('race')).status === ACTIVE)
    const [row] = await service.database.sql`select sha256 from archive where version_id = ${id}`
    const kept = archives.findIndex((bytes) => sha256Of(bytes) === row?.['sha256'])
    assert.equal(statuses[kept], 200, 'it is of somebody who was told that it is taken')
    sent.set(id, archives[kept] ?? Buffer.alloc(0))
  })

  test('leaves each version Active by one move, with its archive, and nothing else', async () => {
    await assertVersions(service, sent)
    await assertVersionWorkflows(service, temporalAddress(), [...sent.keys()])
    await assertNothingLeft(service)
  })
})
