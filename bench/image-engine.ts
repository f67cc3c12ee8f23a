import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import sharp from 'sharp'
import { Value } from 'typebox/value'
import type { ImageJob } from '../src/adapters/image-engine/image-engine.ts'
import { makeLocalImageEngine } from '../src/adapters/image-engine/local.ts'
import { IMAGE_KINDS } from '../src/domain/image-task/image-kind.ts'
import type { ImageSettings, ImageTaskKind } from '../src/domain/image-task/image-kind.ts'
import type { BareOrder } from './support/bare-render.ts'
import { compareEngine } from './support/engine.ts'
import { makeFolder, withKept } from './support/keep.ts'
import { timeOf } from './support/lanes.ts'
import { ROOT } from '../src/local/root.ts'

const ROUNDS = Number(process.env['ROUNDS'] ?? 7)
const MAX_PIXELS = 100_000_000
// 4 megapixels in the ratio of the sample, 4 : 5.
const WIDTH = 1792
const HEIGHT = 2240

/** Settings that make each kind do its usual work: relight does none without a light. */
const CASES: { kind: ImageTaskKind; settings: object }[] = [
  { kind: 'relight', settings: { prompt: 'warm sunset light from the left' } },
  { kind: 'upscale', settings: {} },
  { kind: 'upscale_precision', settings: {} },
  { kind: 'skin_flexible', settings: {} },
  { kind: 'skin_creative', settings: {} },
  { kind: 'skin_faithful', settings: {} },
]

/**
 * Wall time from file to file of the local image engine, against the same decoding, stages and encoding called directly.
 * Both in a thread: in the main one the same loops take a fifth longer, whoever calls them. Results have 4 megapixels;
 * upscalers double a picture of one.
 */
export const run = async (): Promise<void> =>
  await withKept(async (keep) => {
    const dir = keep(await makeFolder()).path
    const engine = makeLocalImageEngine({ maxPixels: MAX_PIXELS })
    keep({ stop: () => engine.close() })
    const bare = new Worker(new URL('./support/bare-render.js', import.meta.url), { execArgv: [] })
    keep({ stop: () => bare.terminate() })
    const control = { signal: new AbortController().signal, onProgress: () => {} }
    for (const { kind, settings } of CASES) {
      const job = await makeJob(dir, kind, settings)
      const ways = {
        engine: async () => (await timeOf(() => engine.render(job, control))) / 1000,
        bare: () => timeBare(bare, job),
      }
      const result = { size: (WIDTH * HEIGHT) / 1e6, unit: 'megapixel of the result' }
      await compareEngine(['image-engine', kind], ways, { rounds: ROUNDS, warm: 2, ...result })
    }
  })

const makeJob = async (dir: string, kind: ImageTaskKind, settings: object): Promise<ImageJob> => {
  const divisor = kind.startsWith('upscale') ? 2 : 1
  const path = join(dir, `${kind}.jpg`)
  const sample = join(ROOT, 'samples/portrait.png')
  await sharp(sample)
    .resize(WIDTH / divisor, HEIGHT / divisor, { fit: 'fill' })
    .jpeg({ quality: 90 })
    .toFile(path)
  const scratchDir = join(dir, kind)
  await mkdir(scratchDir)
  const applied = Value.Default(IMAGE_KINDS[kind].settings, structuredClone(settings))
  const inputs = { image: { path } }
  return { taskId: kind, kind, settings: applied as ImageSettings, inputs, scratchDir }
}

/** The time that the thread itself took for the calls: messages do not count. */
const timeBare = async (thread: Worker, job: ImageJob): Promise<number> => {
  const order: BareOrder = { job, maxPixels: MAX_PIXELS }
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread is not a window
  thread.postMessage(order)
  const [seconds] = (await once(thread, 'message')) as [number]
  return seconds
}
