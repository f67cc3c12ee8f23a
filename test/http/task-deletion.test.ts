import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { IMAGE_API, VIDEO_API } from '../support/client.ts'
import type { Client } from '../support/client.ts'
import { base64 } from '../support/pictures.ts'
import { useService } from '../support/service.ts'
import { waitFor } from '../support/wait.ts'

const service = useService({ roles: ['api', 'core', 'media'] })
const { sql } = service
const UPSCALE = `${IMAGE_API}/image-upscaler`

const create = async (client: Client, path = UPSCALE): Promise<string> => {
  const image = await base64({ width: 32, height: 24 })
  const { body } = await client.post(path, { image, prompt: 'my secret sea' })
  return body.data.task_id
}
const status = async (url: string | undefined) => (await fetch(url ?? '')).status
const filesOf = async (id: string) =>
  (await service.listFiles()).filter((file) => file.includes(id))
const remove = (client: Client, id: string, query = '') =>
  client.call('DELETE', `/tasks/${id}${query}`)

describe('the deletion of a task', () => {
  test('removes its pictures, its prompt and its links, and keeps the row', async () => {
    const client = service.client()
    const id = await create(client)
    await client.untilEnded('image-upscaler', id)
    const detail = (await client.get(`/tasks/${id}`)).body as unknown as {
      results: { url: string }[]
      inputs: { url: string }[]
      thumbnail_url?: string
    }
    const links = [detail.results[0]?.url, detail.inputs[0]?.url, detail.thumbnail_url]
    for (const link of links) assert.equal(await status(link), 200)
    assert.equal((await remove(service.client(), id)).status, 404, 'not that of another owner')
    assert.equal((await remove(client, id)).status, 204)
    assert.equal((await remove(client, id)).status, 204)
    for (const link of links) assert.equal(await status(link), 410)
    const { body } = await client.get(`/tasks/${id}`)
    assert.ok(body['deleted_at'] && body['purged_at'], JSON.stringify(body))
    assert.doesNotMatch(JSON.stringify(body), /secret sea/)
    assert.deepEqual(await filesOf(id), [])
  })

  test('cancels one that has not ended', async () => {
    const client = service.client()
    const { body } = await client.post(UPSCALE, { image: 'https://images.example.com/a.png' })
    const id = body.data.task_id
    assert.equal((await remove(client, id)).status, 204)
    const { body: read } = await client.get(`/tasks/${id}`)
    const { state, inputs } = read as unknown as { state: string; inputs: { url: string }[] }
    assert.deepEqual([state, inputs[0]?.url], ['cancelled', ''])
  })

  test('of a video that is rendered waits for its end when asked to', async () => {
    const client = service.client()
    const { body } = await client.post(`${VIDEO_API}/text2video`, { prompt: 'my secret sea' })
    const id = (body as unknown as { task_id: string }).task_id
    await waitFor('it is rendered', async () => {
      const [row] = await sql<{ status: string }[]>`select status from task where id = ${id}`
      return row?.status === 'processing'
    })
    const late = await remove(client, id)
    assert.deepEqual([late.status, late.body.error], [400, 'cannot_cancel'])
    assert.match(late.body.message ?? '', /with \?when=ended it is deleted at its end$/)
    assert.equal((await remove(client, id, '?when=ended')).status, 202)
    await waitFor('its files are gone', async () => {
      const [row] = await sql<{ purged: boolean }[]>`
        select purged_at is not null as purged from task where id = ${id}
      `
      return row?.purged === true
    })
    assert.deepEqual(await filesOf(id), [])
  })
})
