import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { expectStatus, type Client } from '../support/client.ts'
import { isLong } from '../support/long.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { useWebhookReceiver } from '../support/receiver.ts'
import { useService, type Role } from '../support/service.ts'
import { waitFor } from '../support/wait.ts'
import {
  linesOf,
  makeRequest,
  postBatch,
  readBulk,
  untilBulkEnded,
} from '../tasks/http/bulk-support.ts'
import { untilReceived } from '../events/http/delivery-support.ts'
import { makeRandom, pick } from './random.ts'

const REQUESTS = isLong ? 10_000 : 300
/** Every so many is one that its route rejects. */
const BAD = 50
const KILLS = 3
const SEED = Number(process.env['SEED'] ?? 42)
/** Three hundred requests one after another take their time, and ten thousand more. */
const LONG_MS = PATIENCE_MS * (isLong ? 60 : 3)

const service = useService({
  // Nothing is rendered, so no task ends by itself.
  roles: ['api', 'core'],
  env: { OWNER_TASK_LIMIT: String(2 * REQUESTS), OVERRIDE_BULK_PAUSE_FACTOR: '0' },
})
const receiver = useWebhookReceiver()

const isBad = (index: number): boolean => index % BAD === BAD - 1

const upload = async (client: Client): Promise<string> => {
  const asked = await client.post('/customers/storage', { file_name: 'batch.jsonl' })
  const links = expectStatus(asked, 200).body as unknown as Record<string, string>
  const lines = Array.from({ length: REQUESTS }, (_, index) =>
    JSON.stringify({
      ...makeRequest(`${index}`, isBad(index) ? 'no address' : undefined),
      custom_id: `line ${index}`,
      // Its claim is made before the task, and may outlive the process.
      ...(index % 2 === 0 && { idempotency_key: `key-${index}` }),
    }),
  )
  const put = await fetch(links['upload_url'] ?? '', { method: 'PUT', body: lines.join('\n') })
  assert.equal(put.status, 200)
  return links['download_url'] ?? ''
}

/** A process that is killed does not respond; whoever asks then asks again. */
const patiently = <T>(what: string, ask: () => Promise<T | undefined>): Promise<T> =>
  waitFor(what, () => ask().catch(() => undefined), LONG_MS)

describe('a batch whose processes are killed', () => {
  test(`makes each task once, in order (seed ${SEED})`, async () => {
    const random = makeRandom(SEED)
    const client = service.client()
    const webhook_url = receiver.url('/hook')
    const path = await postBatch(client, { file: await upload(client), webhook_url })
    const untilBegun = (least: number) =>
      patiently(`${least} requests are taken`, async () => {
        const { counts, total } = await readBulk(client, path)
        return total > 0 && total - (counts['pending'] ?? 0) >= least ? true : undefined
      })
    const kill = async (role: Role): Promise<void> => {
      await service.entry(role).kill()
      await service.start(role)
    }
    for (let kills = 1; kills <= KILLS; kills += 1) {
      const part = (kills - random()) / (KILLS + 1)
      await untilBegun(Math.floor(part * REQUESTS))
      // The worker at least once: it is what works.
      await kill(kills === 1 ? 'core' : pick(random, ['core', 'api'] as const))
    }
    await untilBegun(REQUESTS)
    const lines = await linesOf(client, path)
    assert.equal(lines.length, REQUESTS)
    const made = lines.flatMap(({ task_id: id }) => id ?? [])
    const good = lines.filter(({ index }) => !isBad(index))
    assert.equal(new Set(made).size, good.length, 'each has a task of its own')
    for (const { index, state, custom_id: name, replayed } of lines)
      assert.deepEqual(
        [state, name, replayed],
        [isBad(index) ? 'rejected' : 'queued', `line ${index}`, undefined],
      )
    const rows = await service.sql<{ id: string; prompt: string }[]>`
      select id, settings->>'prompt' as prompt from task order by created_at, id
    `
    const expected = good.map(({ index, task_id: id }) => ({ id, prompt: `${index}` }))
    assert.deepEqual([...rows], expected, 'there is no other task, and they are in order')

    expectStatus(
      await patiently('it is asked to stop', () => client.post(`${path}/cancel`, {})),
      200,
    )
    await patiently('some are cancelled', async () => {
      const { counts } = await readBulk(client, path)
      return (counts['cancelled'] ?? 0) > 0 ? true : undefined
    })
    await kill('core')
    const ended = await patiently('it has ended', () => untilBulkEnded(client, path))
    assert.equal(ended.counts['cancelled'], good.length)
    const [received] = await untilReceived(receiver, '/hook', 1)
    assert.equal(JSON.parse(received?.body.toString() ?? '').type, 'batch.ended')
    const ids = receiver.of('/hook').map(({ headers }) => headers['webhook-id'])
    assert.equal(new Set(ids).size, 1)
    const files = await service.listFiles()
    assert.ok(!files.some((file) => file.includes('/batches/')), 'its requests are removed')
  })
})
