import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'

import { VIDEO_API } from '../support/client.ts'
import { waitFor } from '../support/wait.ts'
import { DONE, FAILED, findLinks, QUEUED, recordOf } from './field-client.ts'

/** The states of this service: `success` and `failed` in the sets above, this one as whatever else runs. */
const RUNNING = ['processing']

type Json = Record<string, unknown>

export interface VideoFieldClient {
  baseUrl: string
  path: 'text2video' | 'extend'
  body: object
  /** Absent: a client that sends no credential. */
  token?: string
}

/**
 * Does what ComfyUI's API nodes and comfy-cli do with a video: a creation that is repeated under its key, polls with an
 * empty body whose state is compared trimmed and in any case, a walk through the JSON for links, a plain GET of each.
 * Returns the links by the end of their names.
 */
export const runVideoFieldClient = async ({
  baseUrl,
  path,
  body,
  token,
}: VideoFieldClient): Promise<Map<string, Buffer>> => {
  const headers = {
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    'content-type': 'application/json',
    'x-comfy-env': 'local',
  }
  const key = randomBytes(16).toString('hex')
  const send = async (): Promise<{ record: Json; credits: string | null }> => {
    const response = await fetch(`${baseUrl}${VIDEO_API}/${path}`, {
      method: 'POST',
      headers: { ...headers, 'idempotency-key': key },
      body: JSON.stringify(body),
    })
    const record = recordOf(await response.json())
    assert.equal(response.status, 200, JSON.stringify(record))
    return { record, credits: response.headers.get('x-credits-used') }
  }
  const [created, repeated] = [await send(), await send()]
  assert.deepEqual(repeated, created)
  assert.equal(created.credits, String(created.record['credits']))
  assert.ok(QUEUED.includes(stateOf(created.record)), JSON.stringify(created.record))

  const seen: number[] = []
  const ended = await waitFor('the video is done', async () => {
    const id = String(created.record['task_id'])
    const response = await fetch(`${baseUrl}${VIDEO_API}/tasks/${id}/creations`, { headers })
    assert.ok(response.status < 400, `a poll returned ${response.status}`)
    const record = recordOf(await response.json())
    const state = stateOf(record)
    assert.ok(!FAILED.includes(state), JSON.stringify(record))
    assert.ok([...QUEUED, ...RUNNING, ...DONE].includes(state), state)
    seen.push(Number(record['progress']))
    return DONE.includes(state) && record
  })
  assertProgress(seen)
  const [creation] = ended['creations'] as Json[]
  for (const name of ['id', 'url', 'cover_url']) assert.equal(typeof creation?.[name], 'string')
  return await download(findLinks(ended))
}

const stateOf = (record: Json): string => String(record['state']).trim().toLowerCase()

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
