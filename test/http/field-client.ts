import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'

import sharp from 'sharp'

import { IMAGE_API } from '../support/client.ts'
import { waitFor } from '../support/wait.ts'

export const DONE = ['succeeded', 'succeed', 'success', 'completed', 'finished', 'done', 'complete']
export const FAILED = ['cancelled', 'canceled', 'canceling', 'fail', 'failed', 'error']
export const QUEUED = [
  'created',
  'queued',
  'queueing',
  'submitted',
  'initializing',
  'wait',
  'in_queue',
]

type Json = Record<string, unknown>

export interface FieldClient {
  baseUrl: string
  path: string
  family: string
  token: string
  image: string
}

/** Does as ComfyUI's API nodes and comfy-cli do: an upload, a repeated creation, polls, a walk through the JSON. */
export const runFieldClient = async ({
  baseUrl,
  path,
  family,
  token,
  image,
}: FieldClient): Promise<void> => {
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'x-comfy-env': 'local',
  }
  const key = randomBytes(16).toString('hex')
  const post = async (url: string, body: object, more = {}): Promise<Json> => {
    const response = await fetch(baseUrl + url, {
      method: 'POST',
      headers: { ...headers, ...more },
      body: JSON.stringify(body),
    })
    assert.equal(response.status, 200)
    return (await response.json()) as Json
  }
  const links = (await post('/customers/storage', {
    file_name: `${key}.jpg`,
    content_type: 'image/jpeg',
  })) as unknown as { upload_url: string; download_url: string }
  const bytes = new Uint8Array(Buffer.from(image, 'base64'))
  await fetch(links.upload_url, {
    method: 'PUT',
    body: bytes,
    headers: { 'content-type': 'image/jpeg' },
  })

  const send = () =>
    post(`${IMAGE_API}/${path}`, { image: links.download_url }, { 'idempotency-key': key })
  const [created, repeated] = [await send(), await send()]
  assert.deepEqual(repeated, created)

  const url = `${baseUrl}${IMAGE_API}/${family}/${String(recordOf(created)['task_id'])}`
  const ended = await waitFor('the task is done', async () => {
    const response = await fetch(url, { headers })
    assert.ok(response.status < 400)
    const record = recordOf(await response.json())
    const status = String(record['status']).trim().toLowerCase()
    assert.ok(!FAILED.includes(status), JSON.stringify(record))
    assert.ok([...QUEUED, ...DONE, 'in_progress'].includes(status), status)
    return DONE.includes(status) && record
  })
  assert.equal(typeof (ended['generated'] as unknown[])[0], 'string')
  const found = findLinks(ended)
  assert.equal(found.length, 1)
  const file = await fetch(found[0] ?? '')
  const { format } = await sharp(Buffer.from(await file.arrayBuffer())).metadata()
  assert.equal(
    new URL(found[0] ?? '').pathname.split('.').at(-1),
    format === 'jpeg' ? 'jpg' : format,
  )
}

export const recordOf = (body: unknown): Json => {
  assert.ok(typeof body === 'object' && body !== null && !Array.isArray(body), 'no object')
  return ((body as Json)['data'] ?? body) as Json
}

export const findLinks = (value: unknown): string[] => {
  if (typeof value === 'string')
    return /^https?:\/\/[^?]*\.(png|jpe?g|webp|gif|mp4|webm)(\?|$)/i.test(value) ? [value] : []
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(findLinks) : []
}
