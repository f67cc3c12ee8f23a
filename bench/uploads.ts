import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import sharp from 'sharp'

import { IMAGE_API } from '../test/support/client.ts'
import type { Entry } from '../test/support/entry.ts'
import { startService } from '../test/support/service.ts'
import type { Service } from '../test/support/service.ts'
import { median, say, showFigure, showSpread } from './support/figures.ts'
import { makeFolder, withServers } from './support/keep.ts'
import { inTurns } from './support/lanes.ts'
import { codePath } from '../src/local/root.ts'

const CLIENTS = 32
const ROUNDS = Number(process.env['ROUNDS'] ?? 3)
/** A picture of noise, whose PNG of 30 MB is 40 MB of Base64. */
const SIDE = 3155

/**
 * 32 clients send bodies of 40 MB at once: the longest time the api's event loop was blocked, and the api's greatest memory.
 */
export const run = async (): Promise<void> =>
  await withServers(async (keep) => {
    const body = join(keep(await makeFolder()).path, 'body.json')
    const bytes = await writeBody(body)
    say(`${CLIENTS} clients, a body of ${(bytes / 1e6).toFixed(1)} MB each`)
    await measure(body)
  })

const measure = async (body: string): Promise<void> => {
  const { rounds } = await inTurns(ROUNDS, { rounds: () => measureOnce(body) })
  const blocks = rounds.map(({ blockMs }) => blockMs)
  const memories = rounds.map(({ rss }) => rss / 1e6)
  showSpread('longest block of the event loop', blocks, 'ms')
  showSpread('peak memory of the api (RSS)', memories, 'MB')
  showFigure('uploads.block', median(blocks), { unit: 'ms', aim: 100, atMost: true })
  showFigure('uploads.rss', median(memories), { unit: 'MB', aim: 300, atMost: true })
}

const measureOnce = async (body: string): Promise<Probe> => {
  const service = await startProbed()
  try {
    await upload(service, body)
    return await readProbe(service.entry('api'))
  } finally {
    await service.stop()
  }
}

/** An api whose process tells of itself. */
const startProbed = async (): Promise<Service> => {
  const probe = fileURLToPath(new URL('./support/probe.mjs', import.meta.url))
  const service = await startService({ roles: ['api'], env: { NODE_OPTIONS: `--import ${probe}` } })
  // The probe begins 5 s after the start of the process.
  await sleep(6000)
  return service
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
  if (line === undefined) throw new Error('the api told nothing of itself')
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
