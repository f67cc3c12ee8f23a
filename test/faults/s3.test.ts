import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'

import type { Client } from '../support/client.ts'
import { startEntry } from '../support/entry.ts'
import { isLong } from '../support/long.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { base64 } from '../support/pictures.ts'
import { startS3Proxy, type S3Proxy } from '../support/s3-proxy.ts'
import { startS3Server, whyNoS3Server, type S3Server } from '../support/s3-server.ts'
import { startService, type Service } from '../support/service.ts'
import { waitFor } from '../support/wait.ts'
import { CREATE, HEARTBEAT, clientOf } from './calls.ts'

const skip = isLong ? ((await whyNoS3Server()) ?? false) : 'only with --long'

describe('a service whose bucket', { skip }, () => {
  let server: S3Server
  let proxy: S3Proxy
  let service: Service
  let alice: Client

  before(async () => {
    server = await startS3Server()
    proxy = await startS3Proxy(server.endpoint)
    const env = { ...server.settings, S3_ENDPOINT: proxy.endpoint, ...HEARTBEAT }
    service = await startService({ env })
    alice = await clientOf(service)
  })
  after(async () => {
    await service?.stop()
    await proxy?.close()
    await server?.stop()
  })

  const create = async (body: object) => {
    const response = await alice.post(CREATE, { scale_factor: '2x', ...body })
    return { ...response, id: response.body.data?.task_id }
  }
  const findEnd = async (id: string) => {
    const { data } = (await alice.get(`${CREATE}/${id}`)).body
    return /COMPLETED|FAILED/.test(data.status) && data
  }
  const untilEnded = (id: string) => waitFor(`${id} has ended`, () => findEnd(id), 3 * PATIENCE_MS)
  const see = async (id: string): Promise<{ failures: number; fence: number }> => {
    const [row] = await service.database.sql<{ failures: number; fence: number }[]>`
      select failures, fence from task where id = ${id}
    `
    return row ?? { failures: -1, fence: 0 }
  }
  const linkOf = async (id: string): Promise<string> => {
    const [link] = (await untilEnded(id)).generated
    assert.ok(link)
    return link
  }

  for (const [what, fault] of [
    ['responds with 503', 'busy'],
    ['loses every response', 'lost'],
  ] as const)
    test(`a service whose bucket ${what} rejects what needs it with 503 and loses no task`, async () => {
      const first = await create({ image: await base64() })
      const link = await linkOf(first.id)
      proxy.issue = () => fault
      const rejected = await create({ image: await base64() })
      assert.deepEqual([rejected.status, rejected.body.error], [503, 'unavailable'])
      assert.equal((await fetch(link)).status, 503)
      assert.equal((await fetch(link, { method: 'HEAD' })).status, 200)
      // An address of our own: the api reads the row alone, and the worker reads the bucket.
      const { status, id } = await create({ image: link })
      assert.equal(status, 200)
      const isTried = async () => (await see(id)).fence > 3
      await waitFor('it was tried four times', isTried, 3 * PATIENCE_MS)
      assert.equal((await see(id)).failures, 0)
      proxy.issue = undefined
      const ended = await untilEnded(id)
      assert.equal(ended.status, 'COMPLETED')
      const file = await fetch(ended.generated[0] ?? '')
      assert.equal(file.status, 200)
      await file.arrayBuffer()
      assert.equal((await create({ image: await base64() })).status, 200)
    })

  test('is not there ends a process at its start with what to do', async () => {
    const env = { ...service.settings, S3_BUCKET: 'nowhere', PORT: '0' }
    const start = startEntry({ path: 'src/api.ts', readyMessage: 'api ready', env })
    await assert.rejects(start, /make the bucket, or correct S3_BUCKET/)
  })

  test('a service whose bucket does not respond starts, and is degraded until it does', async () => {
    proxy.issue = () => 'busy'
    const { baseUrl, entry } = await service.startSecondApi()
    const stateOf = async () =>
      ((await (await fetch(`${baseUrl}/ready`)).json()) as { status: string }).status
    assert.equal(await stateOf(), 'degraded')
    proxy.issue = undefined
    await waitFor('it is ready', async () => (await stateOf()) === 'ready')
    await entry.kill()
  })
})
