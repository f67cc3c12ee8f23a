import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import sharp from 'sharp'
import { request } from 'undici'

import { IMAGE_API } from '../test/support/client.ts'
import type { Entry } from '../test/support/entry.ts'
import { startS3Server, whyNoS3Server } from '../test/support/s3-server.ts'
import { startService } from '../test/support/service.ts'
import type { Service } from '../test/support/service.ts'
import { askForUpload, bearer } from './support/call.ts'
import { median, say, showResult, showSpread } from './support/results.ts'
import { makeFolder, withKept, withServers } from '../test/support/keep.ts'
import { inTurns, timeOf } from './support/lanes.ts'
import { codePath } from '../src/local/root.ts'

const CLIENTS = 32
const ROUNDS = Number(process.env['ROUNDS'] ?? 3)
/** A picture of noise, whose PNG of 30 MB is 40 MB of Base64. */
const SIDE = 3155

/** Bytes that each of two clients sends, again and again. */
const FILE_BYTES = 40_000_000
const FILES = 8

/**
 * 32 clients send bodies of 40 MB at once: the longest time the api's event loop was blocked, and the api's greatest memory.
 * Two clients send files of 40 MB one after another: how fast each of them is, and the memory again. On a local store, and
 * on a bucket of a server on this machine where that is built.
 */
export const run = async (): Promise<void> =>
  await withServers(async (keep) => {
    const body = join(keep(await makeFolder()).path, 'body.json')
    const bytes = await writeBody(body)
    say(`${CLIENTS} clients, a body of ${(bytes / 1e6).toFixed(1)} MB each`)
    await measure('uploads', body, {})
    const missing = await whyNoS3Server()
    if (missing !== undefined) return say(`a bucket is skipped: ${missing}`)
    const { settings } = keep(await startS3Server())
    say('the same on a bucket')
    await measure('uploads.s3', body, settings)
  })

const measure = async (name: string, body: string, env: NodeJS.ProcessEnv): Promise<void> => {
  const { many, two } = await inTurns(ROUNDS, {
    many: () => measureOnce(env, (service) => upload(service, body)),
    two: () => measureOnce(env, sendTwo),
  })
  const blocks = many.map(({ blockMs }) => blockMs)
  const memories = many.map(({ rss }) => rss / 1e6)
  const memoriesOfTwo = two.map(({ rss }) => rss / 1e6)
  const speeds = two.map(({ seconds }) => (FILES * FILE_BYTES) / 1e6 / seconds)
  showSpread('longest block of the event loop', blocks, 'ms')
  showSpread('peak memory of the api (RSS)', memories, 'MB')
  showSpread('each of two clients', speeds, 'MB/s')
  showSpread('peak memory of the api with two', memoriesOfTwo, 'MB')
  showResult(`${name}.block`, median(blocks), { unit: 'ms', atMost: 100 })
  showResult(`${name}.rss`, median(memories), { unit: 'MB', atMost: 300 })
  showResult(`${name}.two`, median(speeds), { unit: 'MB/s', atLeast: 40 })
}

/** Measures on an api process of its own, which runs the probe. */
const measureOnce = async (
  settings: NodeJS.ProcessEnv,
  work: (service: Service) => Promise<void>,
): Promise<Probe & { seconds: number }> =>
  await withKept(async (keep) => {
    const probe = fileURLToPath(new URL('./support/probe.mjs', import.meta.url))
    const env = { NODE_OPTIONS: `--import ${probe}`, ...settings }
    const service = keep(await startService({ roles: ['api'], env }))
    // The probe begins 5 s after the start of the process.
    await sleep(6000)
    const seconds = (await timeOf(() => work(service))) / 1000
    return { ...(await readProbe(service.entry('api'))), seconds }
  })

const sendTwo = async (service: Service): Promise<void> => {
  const file = randomBytes(FILE_BYTES)
  const headers = await bearer(service, 'bench')
  const links = [await askForUpload(service, headers), await askForUpload(service, headers)]
  const send = async ({ upload_url }: { upload_url: string }): Promise<void> => {
    for (let sent = 0; sent < FILES; sent += 1) {
      const { statusCode, body } = await request(upload_url, { method: 'PUT', body: file })
      const text = await body.text()
      if (statusCode !== 200) throw new Error(`an upload failed: ${text}`)
    }
  }
  await Promise.all(links.map(send))
}

const upload = async (service: Service, body: string): Promise<void> => {
  await promisify(execFile)(process.execPath, [
    codePath('bench/support/upload-clients.ts'),
    `${service.baseUrl}${IMAGE_API}/skin-enhancer/creative`,
    await service.token('bench'),
    String(CLIENTS),
    body,
  ])
}

interface Probe {
  blockMs: number
  rss: number
}

const readProbe = async (api: Entry): Promise<Probe> => {
  // One more line of the probe, so that it covers the whole upload.
  await sleep(600)
  const line = api.log.findLast((text) => text.includes('"probe"'))
  if (line === undefined) throw new Error('the api printed no line of the probe')
  return (JSON.parse(line) as { probe: Probe }).probe
}

const writeBody = async (path: string): Promise<number> => {
  const raw = { width: SIDE, height: SIDE, channels: 3 } as const
  const picture = await sharp(randomBytes(SIDE * SIDE * 3), { raw })
    .png({ compressionLevel: 0 })
    .toBuffer()
  const body = JSON.stringify({ image: picture.toString('base64') })
  await writeFile(path, body)
  return body.length
}
