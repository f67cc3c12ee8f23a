import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'

import sharp, { type Metadata } from 'sharp'

import { waitFor } from '../../support/wait.ts'
import { OWN_NAMES, type WireNames } from '../../support/wire-names.ts'

const DONE = ['succeeded', 'succeed', 'success', 'completed', 'finished', 'done', 'complete']
const FAILED = ['cancelled', 'canceled', 'canceling', 'fail', 'failed', 'error']
const QUEUED = ['created', 'queued', 'queueing', 'submitted', 'initializing', 'wait', 'in_queue']
/** The only states of this service that are in no set above. */
const RUNNING = ['in_progress', 'processing']

type Json = Record<string, unknown>

/**
 * Does as ComfyUI's API nodes and comfy-cli do: a creation that is repeated under its key, polls whose status is compared
 * trimmed and in any case, a walk through the JSON for links. Without a token it sends no credential.
 */
const makeFieldClient = (
  { baseUrl, token }: { baseUrl: string; token?: string | undefined },
  names: WireNames,
) => {
  const headers = {
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    'content-type': 'application/json',
    'x-comfy-env': 'local',
  }
  const post = async (path: string, body: object, more = {}) => {
    const response = await fetch(baseUrl + path, {
      method: 'POST',
      headers: { ...headers, ...more },
      body: JSON.stringify(body),
    })
    const record = recordOf(await response.json())
    assert.equal(response.status, 200, JSON.stringify(record))
    return { record, credits: response.headers.get(names.credits) }
  }
  return {
    post,
    create: async (path: string, body: object) => {
      const key = { 'idempotency-key': randomBytes(16).toString('hex') }
      const [created, repeated] = [await post(path, body, key), await post(path, body, key)]
      assert.deepEqual(repeated, created)
      return created
    },
    untilDone: (path: string, name: 'status' | 'state', see?: (record: Json) => void) =>
      waitFor('the task is done', async () => {
        const response = await fetch(baseUrl + path, { headers })
        assert.ok(response.status < 400, `a poll returned ${response.status}`)
        const record = recordOf(await response.json())
        const status = stateOf(record[name])
        assert.ok(!FAILED.includes(status), JSON.stringify(record))
        assert.ok([...QUEUED, ...RUNNING, ...DONE].includes(status), status)
        see?.(record)
        return DONE.includes(status) && record
      }),
  }
}

interface FieldImage {
  baseUrl: string
  path: string
  family: string
  token: string
  image: Buffer
  format: 'png' | 'jpeg'
  settings: object
  names?: WireNames
}

/** Uploads a picture and has it rendered; returns the link of the result, and what is in it. */
export const runFieldClient = async ({
  baseUrl,
  path,
  family,
  token,
  image,
  format,
  settings,
  names = OWN_NAMES,
}: FieldImage): Promise<{ link: string; type: string | null; metadata: Metadata }> => {
  const client = makeFieldClient({ baseUrl, token }, names)
  const type = `image/${format}`
  const file_name = `${randomBytes(16).toString('hex')}.${format}`
  const { record: links } = await client.post('/customers/storage', {
    file_name,
    content_type: type,
  })
  await fetch(String(links['upload_url']), {
    method: 'PUT',
    body: new Uint8Array(image),
    headers: { 'content-type': type },
  })
  const body = { image: links['download_url'], ...settings }
  const { record, credits } = await client.create(`${names.imageApi}/${path}`, body)
  assert.equal(credits, '0')
  const ended = await client.untilDone(
    `${names.imageApi}/${family}/${String(record['task_id'])}`,
    'status',
  )
  assert.equal(typeof (ended['generated'] as unknown[])[0], 'string')
  const [link = '', ...others] = findLinks(ended)
  assert.deepEqual(others, [])
  const response = await fetch(link)
  const metadata = await sharp(Buffer.from(await response.arrayBuffer())).metadata()
  return { link, type: response.headers.get('content-type'), metadata }
}

interface FieldVideo {
  baseUrl: string
  path: 'text2video' | 'img2video' | 'extend'
  body: object
  token?: string
  names?: WireNames
}

/** Has a video made, and gets each of its links; returns the files by the end of their names. */
export const runVideoFieldClient = async ({
  baseUrl,
  path,
  body,
  token,
  names = OWN_NAMES,
}: FieldVideo): Promise<Map<string, Buffer>> => {
  const client = makeFieldClient({ baseUrl, token }, names)
  const { record, credits } = await client.create(`${names.videoApi}/${path}`, body)
  assert.equal(credits, String(record['credits']))
  assert.ok(QUEUED.includes(stateOf(record['state'])), JSON.stringify(record))
  const seen: number[] = []
  const ended = await client.untilDone(
    `${names.videoApi}/tasks/${String(record['task_id'])}/creations`,
    'state',
    (record) => seen.push(Number(record['progress'])),
  )
  assertProgress(seen)
  const [creation] = ended['creations'] as Json[]
  for (const name of ['id', 'url', 'cover_url']) assert.equal(typeof creation?.[name], 'string')
  return await download(findLinks(ended))
}

const stateOf = (value: unknown): string => String(value).trim().toLowerCase()

/** Drives a bar: whole, from 0 to 100, never back. */
const assertProgress = (seen: readonly number[]): void => {
  for (const [index, value] of seen.entries()) {
    assert.ok(Number.isInteger(value) && value >= (seen[index - 1] ?? 0), seen.join())
    assert.equal(value === 100, index === seen.length - 1, seen.join())
  }
}

const download = async (links: readonly string[]): Promise<Map<string, Buffer>> => {
  const files = new Map<string, Buffer>()
  for (const link of links) {
    const response = await fetch(link)
    assert.equal(response.status, 200)
    const name = new URL(link).pathname.split('/').at(-1) ?? ''
    const type = name.endsWith('.mp4') ? 'video/mp4' : 'image/jpeg'
    assert.equal(response.headers.get('content-type'), type)
    files.set(name, Buffer.from(await response.arrayBuffer()))
  }
  return files
}

const recordOf = (body: unknown): Json => {
  assert.ok(typeof body === 'object' && body !== null && !Array.isArray(body), 'no object')
  return ((body as Json)['data'] ?? body) as Json
}

const findLinks = (value: unknown): string[] => {
  if (typeof value === 'string')
    return /^https?:\/\/[^?]*\.(png|jpe?g|webp|gif|mp4|webm)(\?|$)/i.test(value) ? [value] : []
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(findLinks) : []
}
