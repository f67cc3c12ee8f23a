import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import type { TaskDetail } from '../../../src/tasks/domain/task-item.ts'
import { IMAGE_URL, TEXT, UPSCALE, expectStatus, type Client } from '../../support/client.ts'
import { base64 } from '../../support/pictures.ts'
import { useService } from '../../support/service.ts'

const HOUR = { kiln_start_after: 3600 }
const VIDEO = { prompt: 'a sea', duration: 4, model: 'video2.0' }

const service = useService({ env: { OUTBOUND_ALLOW_LOOPBACK: 'true' } })
const { sql } = service

const detailOf = async (client: Client, id: string): Promise<TaskDetail> =>
  expectStatus(await client.get(`/tasks/${id}`), 200).body as unknown as TaskDetail

const image = await base64({ width: 20, height: 10 })

/** Has the time of a task come. */
const letStart = async (id: string): Promise<void> => {
  await sql`update task set start_after = now() where id = ${id}`
}

const workflowsOf = async (id: string): Promise<number> => {
  const rows = await sql`select from outbox where workflow_id like ${`%-task/${id}`}`
  return rows.length
}

describe('a task that starts later', () => {
  test('waits in its row alone, says until when, and is made once that time has come', async () => {
    const client = service.client()
    const id = await client.createImage({ image, ...HOUR })
    const { state, waits_for, start_after, created_at, queue_position } = await detailOf(client, id)
    assert.equal(state, 'waiting')
    assert.equal(Date.parse(start_after ?? '') - Date.parse(created_at), 3_600_000)
    const start = start_after?.replace(/\.\d{3}Z$/, 'Z')
    assert.equal(waits_for, `It waits for the time that its request gives. It starts at ${start}.`)
    assert.equal(queue_position, undefined)
    assert.equal(await workflowsOf(id), 0)
    // Others of its account do not wait for it.
    const other = await client.createImage({ image })
    assert.equal((await client.untilEnded('image-upscaler', other)).status, 'COMPLETED')
    await letStart(id)
    assert.equal((await client.untilEnded('image-upscaler', id)).status, 'COMPLETED')
  })

  test('is a video, too, which has no slot before', async () => {
    const client = service.client()
    const id = await client.createVideo({ ...VIDEO, ...HOUR }, TEXT)
    const other = await client.createVideo(VIDEO, TEXT)
    assert.equal((await client.untilVideoEnded(other)).state, 'success')
    assert.match((await detailOf(client, id)).waits_for ?? '', /^It waits for the time/)
    assert.equal(await workflowsOf(id), 0)
    await letStart(id)
    assert.equal((await client.untilVideoEnded(id)).state, 'success')
  })

  test('has waited from that time on, in the usage of its owner', async () => {
    const client = service.client('usage-of-later')
    const id = await client.createImage({ image, ...HOUR })
    await sql`update task set created_at = now() - interval '1 day' where id = ${id}`
    await letStart(id)
    assert.equal((await client.untilEnded('image-upscaler', id)).status, 'COMPLETED')
    const [row] = await sql<{ isShort: boolean }[]>`
      select array_length(waited, 1) < usage_bucket(3600) as "isShort"
      from usage where owner = 'usage-of-later' and key = ''
    `
    assert.equal(row?.isShort, true)
  })

  test('is cancelled as any other', async () => {
    const client = service.client()
    const id = await client.createImage({ image, ...HOUR })
    expectStatus(await client.post(`${UPSCALE}/${id}/cancel`, {}), 200)
    assert.equal((await detailOf(client, id)).state, 'cancelled')
  })

  test('has all of its deadlines counted from there', async () => {
    const client = service.client()
    const within = { kiln_start_within: 60, kiln_end_within: 120 }
    const id = await client.createVideo({ ...VIDEO, off_peak: true, ...within, ...HOUR }, TEXT)
    const [row] = await sql<{ start: number; end: number; offPeak: number }[]>`
      select extract(epoch from start_by - start_after)::float8 as start,
        extract(epoch from end_by - start_after)::float8 as "end",
        extract(epoch from off_peak_by - start_after)::float8 as "offPeak"
      from task where id = ${id}
    `
    const rounded = Object.values(row ?? {}).map((seconds) => Math.round(seconds))
    assert.deepEqual(rounded, [60, 120, 172_800])
  })

  test('may be given a time, and one that has passed is now', async () => {
    const client = service.client()
    const at = new Date(Date.now() + 86_400_000).toISOString()
    const later = await client.createImage({ image, kiln_start_after: at })
    assert.equal((await detailOf(client, later)).start_after, at)
    const passed = await client.createImage({ image, kiln_start_after: '2026-01-01T00:00:00Z' })
    assert.equal((await client.untilEnded('image-upscaler', passed)).status, 'COMPLETED')
  })

  for (const wrong of [0, 2_592_001, 1.5, 'soon', '60', '2999-01-01T00:00:00Z'])
    test(`is rejected with ${JSON.stringify(wrong)}`, async () => {
      const { status, body } = await service
        .client()
        .post(UPSCALE, { image, kiln_start_after: wrong })
      assert.equal(status, 400)
      assert.match(body.details?.join() ?? '', /^\/kiln_start_after must be [^,]*30 days|2592000/)
      assert.ok(body.details?.[0]?.endsWith(`got ${JSON.stringify(wrong)}`) || wrong !== 0)
    })

  test('warns of addresses, which are fetched then', async () => {
    const client = service.client()
    const { body } = await client.create(UPSCALE, { image: IMAGE_URL, ...HOUR })
    assert.match(body.data.warnings?.[0] ?? '', /^\/image is fetched when the task starts/)
  })
})
