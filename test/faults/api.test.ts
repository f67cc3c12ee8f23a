import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, test } from 'node:test'

import sharp from 'sharp'

import type { Client } from '../support/client.ts'
import { startService } from '../support/service.ts'
import type { Service } from '../support/service.ts'
import { temporalAddress } from '../support/stack.ts'
import { waitFor } from '../support/wait.ts'
import { CREATE, clientOf, createUntilAnswered, sendPart, tryCreate } from './calls.ts'
import { assertLedger, assertWorkflows } from './ledger.ts'
import { ageScratch, listScratch, untilSwept } from './scratch.ts'

/** Noise does not compress, so that half of it fills more than one buffer of the reader. */
const noise = async (): Promise<Buffer> =>
  await sharp(randomBytes(700 * 700 * 3), { raw: { width: 700, height: 700, channels: 3 } })
    .png()
    .toBuffer()

describe('an api that is killed', () => {
  let service: Service
  let alice: Client
  const ids: string[] = []
  const restart = async (failpoint?: string) => {
    await service.entry('api').ended
    await service.start('api', failpoint === undefined ? {} : { FAILPOINT: failpoint })
  }

  before(async () => {
    service = await startService({ roles: ['core', 'media'] })
    await service.start('api', { FAILPOINT: 'create.after-commit' })
    alice = await clientOf(service)
  })
  after(() => service.stop())

  test('after the commit has made the one task that the repetition gets', async () => {
    assert.equal(await tryCreate(alice, 'after-commit'), undefined)
    assert.equal(await service.entry('api').ended, 'SIGKILL')
    await restart('create.after-start')
    ids.push(await createUntilAnswered(service, { client: alice, key: 'after-commit' }))
    await alice.untilEnded('image-upscaler', ids[0] ?? '')
  })

  test('before it could note that Temporal knows starts nothing twice', async () => {
    // Its first start was that of the relay; the fast path of this creation is the line that kills.
    const answer = await tryCreate(alice, 'after-start', 1)
    assert.ok(answer === undefined || answer.status === 200)
    await restart('relay.after-start')
    assert.equal(await service.entry('api').ended, 'SIGKILL')
    await restart()
    ids.push(await createUntilAnswered(service, { client: alice, key: 'after-start', shade: 1 }))
    await alice.untilEnded('image-upscaler', ids[1] ?? '')
  })

  test('in the middle of an upload keeps nothing of it, and the link still works', async () => {
    const links = (await alice.post('/customers/storage', { file_name: 'a.png' })).body
    const { upload_url, download_url } = links as unknown as Record<string, string>
    const body = await noise()
    await service.entry('api').kill()
    await restart('upload.mid-body')
    await assert.rejects(fetch(String(upload_url), { method: 'PUT', body: Uint8Array.from(body) }))
    await restart()
    assert.equal((await fetch(String(download_url))).status, 404)
    const again = await fetch(String(upload_url), { method: 'PUT', body: Uint8Array.from(body) })
    assert.equal(again.status, 200)
    const stored = await fetch(String(download_url))
    assert.deepEqual(Buffer.from(await stored.arrayBuffer()), body)
  })

  test('in the middle of a Base64 value keeps nothing of it, and its key works again', async () => {
    const text = (await noise()).toString('base64')
    const part = Buffer.from(`{"image":"${text.slice(0, text.length / 2)}`)
    sendPart(service.baseUrl + CREATE, {
      method: 'POST',
      part,
      headers: {
        authorization: `Bearer ${await service.token('alice')}`,
        'content-type': 'application/json',
        'idempotency-key': 'mid-body',
      },
    })
    await waitFor('half of the value is on disk', async () =>
      (await listScratch(service)).some((path) => path.includes('/bodies/')),
    )
    service.entry('api').signal('SIGKILL')
    await service.entry('api').ended
    await ageScratch(service)
    await restart()
    ids.push(await createUntilAnswered(service, { client: alice, key: 'mid-body', shade: 2 }))
    await untilSwept(service)
  })

  test('leaves each accepted task with one row, one workflow and one end', async () => {
    const tasks = await assertLedger(service, ids)
    assert.deepEqual(new Set(tasks.map((task) => task.status)), new Set(['COMPLETED']))
    await assertWorkflows(service, temporalAddress(), ids)
  })
})
