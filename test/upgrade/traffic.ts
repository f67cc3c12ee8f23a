import { setTimeout as sleep } from 'node:timers/promises'

import { IMAGE_API, VIDEO_API } from '../support/client.ts'
import { base64 } from '../support/pictures.ts'
import { makeZip } from '../support/zip.ts'

/** Counts of callers in one phase of the upgrade. */
export interface Phase {
  requests: number
  failed: string[]
  slowestMs: number
}

export type Traffic = Awaited<ReturnType<typeof startTraffic>>

const PAUSE_MS = 60

/** Starts a caller that repeats nothing: each request without a 2xx counts as failed. */
export const startTraffic = async (base: string, token: string) => {
  const phases = new Map<string, Phase>()
  let now: Phase
  const begin = (name: string): void => {
    // The way there comes twice when the way back is tried.
    now = phases.get(name) ?? { requests: 0, failed: [], slowestMs: 0 }
    phases.set(name, now)
  }
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }

  const ask = async (
    url: string,
    init: RequestInit & { duplex?: 'half' } = {},
  ): Promise<unknown> => {
    const phase = now
    const start = performance.now()
    phase.requests += 1
    try {
      const response = await fetch(url, init)
      const text = await response.text()
      if (!response.ok) throw new Error(`${response.status} ${text.slice(0, 200)}`)
      return text.startsWith('{') ? JSON.parse(text) : text
    } catch (error) {
      phase.failed.push(`${init.method ?? 'GET'} ${url.slice(base.length)}: ${String(error)}`)
      return undefined
    } finally {
      if (!init.duplex) phase.slowestMs = Math.max(phase.slowestMs, performance.now() - start)
    }
  }
  const get = async (path: string): Promise<unknown> => await ask(base + path, { headers })
  const post = async <T>(path: string, body: object) => {
    const init = { method: 'POST', headers, body: JSON.stringify(body) }
    return (await ask(base + path, init)) as T | undefined
  }

  begin('fill')
  const picture = await base64()
  const archive = makeZip('NODE_CLASS_MAPPINGS = {}\n')
  await post('/publishers', { id: 'pub', name: 'Pub' })
  const pat = await post<{ token: string }>('/publishers/pub/tokens', { name: 'upgrade' })
  await post('/publishers/pub/nodes', { id: 'pack', name: 'Pack' })
  let published = 0

  const traffic = {
    phases,
    begin,
    async createImage(webhook_url: string, image = picture): Promise<string> {
      const body = { image, webhook_url }
      const made = await post<{ data: { task_id: string } }>(`${IMAGE_API}/image-relight`, body)
      return made?.data.task_id ?? ''
    },
    async createVideo(callback_url: string, more: object = {}): Promise<string> {
      const video = { model: 'videoq3-pro', prompt: 'a lighthouse', duration: 1 }
      const body = { ...video, callback_url, ...more }
      return (await post<{ task_id: string }>(`${VIDEO_API}/text2video`, body))?.task_id ?? ''
    },
    /** Publishes a version that awaits its archive; returns the link for it. */
    async publish(): Promise<string> {
      const body = {
        personal_access_token: pat?.token,
        node: { id: 'pack' },
        node_version: { version: `1.0.${(published += 1)}` },
      }
      const made = await post<{ signedUrl: string }>('/publishers/pub/nodes/pack/versions', body)
      return made?.signedUrl ?? ''
    },
    /** Sends an archive, half of it so many milliseconds after the rest. */
    async upload(link: string, pauseMs = 0): Promise<void> {
      const half = archive.length >> 1
      const body = async function* () {
        yield archive.subarray(0, half)
        await sleep(pauseMs)
        yield archive.subarray(half)
      }
      const length = { 'content-type': 'application/zip', 'content-length': String(archive.length) }
      if (link !== '')
        await ask(link, { method: 'PUT', headers: length, body: body() as never, duplex: 'half' })
    },
    /** Creates, polls, lists and publishes until the signal. */
    async run(signal: AbortSignal, webhook: (n: number) => string): Promise<void> {
      for (let n = 0; !signal.aborted; n += 1) {
        const image = await traffic.createImage(webhook(n))
        await get(`${IMAGE_API}/image-relight/${image}`)
        await get(`${IMAGE_API}/image-relight`)
        await get('/nodes/pack/versions')
        if (n % 4 === 0) {
          const video = await traffic.createVideo(webhook(n))
          await get(`${VIDEO_API}/tasks/${video}/creations`)
        }
        if (n % 8 === 0) await traffic.upload(await traffic.publish())
        await sleep(PAUSE_MS)
      }
    },
  }
  return traffic
}
