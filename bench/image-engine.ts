import { once } from 'node:events'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import sharp from 'sharp'
import { Value } from 'typebox/value'
import type { ImageEngine, ImageJob } from '../src/adapters/image-engine/image-engine.ts'
import { makeLocalImageEngine } from '../src/adapters/image-engine/local.ts'
import { IMAGE_KINDS } from '../src/domain/image-task/image-kind.ts'
import type { ImageSettings, ImageTaskKind } from '../src/domain/image-task/image-kind.ts'
import type { BareOrder } from './support/bare-render.ts'
import { say, showFigure, showSpread, spread } from './support/figures.ts'
import { ROOT } from '../src/local/root.ts'

const ROUNDS = 7
const AIM = 1.15
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
export const run = async (): Promise<void> => {
  const dir = await mkdtemp(join(tmpdir(), 'kiln-bench-image-engine-'))
  const engine = makeLocalImageEngine({ maxPixels: MAX_PIXELS })
  const bare = new Worker(new URL('./support/bare-render.js', import.meta.url), { execArgv: [] })
  try {
    for (const { kind, settings } of CASES) {
      const job = await makeJob(dir, kind, settings)
      report(kind, await measure({ engine, bare }, job))
    }
  } finally {
    await Promise.all([engine.close(), bare.terminate()])
    await rm(dir, { recursive: true, maxRetries: 5 })
  }
}

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

interface Times {
  engine: number[]
  bare: number[]
}

/** Alternates both ways, after two rounds that warm either up. */
const measure = async (
  { engine, bare }: { engine: ImageEngine; bare: Worker },
  job: ImageJob,
): Promise<Times> => {
  const times: Times = { engine: [], bare: [] }
  for (let round = -2; round < ROUNDS; round++) {
    const whole = await timeEngine(engine, job)
    const alone = await timeBare(bare, job)
    if (round < 0) continue
    times.engine.push(whole)
    times.bare.push(alone)
  }
  return times
}

const timeEngine = async (engine: ImageEngine, job: ImageJob): Promise<number> => {
  const start = performance.now()
  await engine.render(job, { signal: new AbortController().signal, onProgress: () => {} })
  return (performance.now() - start) / 1000
}

/** The time that the thread itself took for the calls: messages do not count. */
const timeBare = async (thread: Worker, job: ImageJob): Promise<number> => {
  const order: BareOrder = { job, maxPixels: MAX_PIXELS }
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread is not a window
  thread.postMessage(order)
  const [seconds] = (await once(thread, 'message')) as [number]
  return seconds
}

const report = (kind: ImageTaskKind, { engine, bare }: Times): void => {
  showSpread(`${kind}, engine`, engine, 's')
  showSpread(`${kind}, bare`, bare, 's')
  const perMegapixel = spread(engine).median / ((WIDTH * HEIGHT) / 1e6)
  say(`${kind}: ${perMegapixel.toFixed(3)} s for each megapixel of the result`)
  // Rounds in pairs: what else the machine does then weighs on both sides.
  const ratios = engine.map((seconds, round) => seconds / (bare[round] ?? Number.NaN))
  const figure = { unit: 'x', aim: AIM, atMost: true }
  showFigure(`image-engine.${kind}`, spread(ratios).median, figure)
}
