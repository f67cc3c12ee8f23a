import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import sharp from 'sharp'

import { IMAGE_API } from '../test/support/client.ts'
import type { Entry } from '../test/support/entry.ts'
import { startService } from '../test/support/service.ts'
import type { Service } from '../test/support/service.ts'
import { say, showFigure, showSpread, spread } from './support/figures.ts'
import { withServers } from './support/with-servers.ts'
import { codePath } from '../src/local/root.ts'

const CLIENTS = 32
const ROUNDS = 3
/** A picture of noise, whose PNG of 30 MB is 40 MB of Base64. */
const SIDE = 3155

/**
 * 32 clients send bodies of 40 MB at once: the longest time the api's event loop was blocked, the api's greatest memory,
 * and the speed of taking the bodies in.
 */
export const run = async (): Promise<void> =>
  await withServers(async (keep) => {
    const folder = await mkdtemp(join(tmpdir(), 'kiln-bench-'))
    keep({ stop: () => rm(folder, { recursive: true, force: true }) })
    const body = join(folder, 'body.json')
    const bytes = await writeBody(body)
    say(`${CLIENTS} clients, a body of ${(bytes / 1e6).toFixed(1)} MB each`)
    await measure(body, bytes)
  })

const measure = async (body: string, bytes: number): Promise<void> => {
  const speeds: number[] = []
  const blocks: number[] = []
  const memories: number[] = []
  for (let round = 1; round <= ROUNDS; round += 1) {
    const service = await startProbed()
    try {
      speeds.push((CLIENTS * bytes) / 1e6 / (await upload(service, body)))
      const { blockMs, rss } = await readProbe(service.entry('api'))
      blocks.push(blockMs)
      memories.push(rss / 1e6)
    } finally {
      await service.stop()
    }
    say(`round ${round} of ${ROUNDS}`)
  }
  showSpread('taking bodies in', speeds, 'MB/s')
  showSpread('longest block of the event loop', blocks, 'ms')
  showSpread('peak memory of the api (RSS)', memories, 'MB')
  showFigure('uploads.block', spread(blocks).median, { unit: 'ms', aim: 100, atMost: true })
  showFigure('uploads.rss', spread(memories).median, { unit: 'MB', aim: 300, atMost: true })
}

/** An api whose process tells of itself. */
const startProbed = async (): Promise<Service> => {
  const probe = fileURLToPath(new URL('./support/probe.mjs', import.meta.url))
  const service = await startService({ roles: ['api'], env: { NODE_OPTIONS: `--import ${probe}` } })
  // The probe begins 5 s after the start of the process.
  await sleep(6000)
  return service
}

const upload = async (service: Service, body: string): Promise<number> => {
  const { stdout } = await promisify(execFile)(process.execPath, [
    codePath('bench/support/upload-clients.ts'),
    `${service.baseUrl}${IMAGE_API}/skin-enhancer/creative`,
    await service.token('bench'),
    String(CLIENTS),
    body,
  ])
  const { statuses, seconds } = JSON.parse(stdout) as { statuses: number[]; seconds: number }
  const refused = statuses.filter((status) => status !== 200)
  if (refused.length > 0) throw new Error(`bodies were answered ${refused.join(', ')}`)
  return seconds
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
