import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, test } from 'node:test'

import type { Client } from '../support/client.ts'
import { startService } from '../support/service.ts'
import type { Service } from '../support/service.ts'
import { temporalAddress } from '../support/stack.ts'
import { makeZip } from '../support/zip.ts'
import { clientOf } from './calls.ts'
import { assertVersionWorkflows, assertVersions } from './registry-ledger.ts'
import { ageScratch, untilSwept } from './scratch.ts'

describe('a registry whose processes are killed', () => {
  let service: Service
  let alice: Client
  let token: string
  const sent = new Map<string, Buffer>()

  const startApi = (failpoint?: string) =>
    service.start('api', failpoint === undefined ? {} : { FAILPOINT: failpoint })
  const post = async (path: string, body: object) => {
    const answer = await alice.post(path, body)
    if (answer.status !== 201) throw new Error(`${answer.status}: ${JSON.stringify(answer.body)}`)
    return answer.body as unknown as Record<string, string> & { node_version: { id: string } }
  }
  const publish = async (nodeId: string): Promise<{ id: string; signedUrl: string }> => {
    const body = { node: {}, node_version: { version: '1.0.0' }, personal_access_token: token }
    const answer = await post(`/publishers/acme/nodes/${nodeId}/versions`, body)
    return { id: answer.node_version.id, signedUrl: String(answer['signedUrl']) }
  }
  /** Undefined when the connection broke before an answer. */
  const upload = async (signedUrl: string, bytes: Buffer): Promise<number | undefined> =>
    await fetch(signedUrl, { method: 'PUT', body: Uint8Array.from(bytes) }).then(
      ({ status }) => status,
      () => undefined,
    )

  before(async () => {
    service = await startService({ roles: ['core', 'media'] })
    await startApi(WINDOWS[0])
    alice = await clientOf(service)
    await post('/publishers', { id: 'acme' })
    token = String((await post('/publishers/acme/tokens', { name: 'test' }))['token'])
  })
  after(() => service.stop())

  // Each api is armed for the next window before it takes the repetition of the one before, which passes the line once.
  const WINDOWS = [
    'upload.mid-body',
    'archive.after-store:2',
    'archive.after-commit:2',
    // Of the start of the workflow, then of the signal.
    'create.after-start:2',
  ]
  for (const [index, failpoint] of WINDOWS.entries())
    test(`take an archive once when the api dies at ${failpoint} and the client comes again`, async () => {
      const { id, signedUrl } = await publish(`window-${index}`)
      const bytes = makeZip(randomBytes(300_000))
      const first = await upload(signedUrl, bytes)
      assert.ok(first === undefined || first === 200, String(first))
      assert.equal(await service.entry('api').ended, 'SIGKILL')
      await startApi(WINDOWS[index + 1])
      // What was stored and never recorded binds nobody to its bytes.
      const again = failpoint.startsWith('archive.after-store') ? makeZip('other') : bytes
      assert.equal(await upload(signedUrl, again), 200)
      sent.set(id, again)
    })

  test('decide on every version when core workers die at their moves', async () => {
    await service.entry('core').kill()
    const workers = await Promise.all([
      service.start('core', { FAILPOINT: 'move.before-commit' }),
      service.start('core', { FAILPOINT: 'move.after-commit:2' }),
    ])
    await Promise.all(
      Array.from({ length: 8 }, async (_, n) => {
        const { id, signedUrl } = await publish(`core-${n}`)
        const bytes = makeZip(randomBytes(1000))
        assert.equal(await upload(signedUrl, bytes), 200)
        sent.set(id, bytes)
      }),
    )
    assert.deepEqual(await Promise.all(workers.map((worker) => worker.ended)), [
      'SIGKILL',
      'SIGKILL',
    ])
    await service.start('core')
    await assertVersions(service, sent)
  })

  test('decide when the media worker dies while it has archives to check', async () => {
    await service.entry('media').kill()
    const { id, signedUrl } = await publish('media')
    const bytes = makeZip(randomBytes(1000))
    assert.equal(await upload(signedUrl, bytes), 200)
    sent.set(id, bytes)
    await service.start('media')
    await assertVersions(service, sent)
  })

  test('leave one version, one archive and one run of each workflow', async () => {
    await assertVersions(service, sent)
    await assertVersionWorkflows(service, temporalAddress(), [...sent.keys()])
    await ageScratch(service)
    await untilSwept(service)
  })
})
