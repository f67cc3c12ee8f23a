import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import sharp from 'sharp'
import { Value } from 'typebox/value'
import type {
  ImageEngine,
  ImageJob,
  RenderedImage,
} from '../src/adapters/image-engine/image-engine.ts'
import { makeLocalImageEngine } from '../src/adapters/image-engine/local.ts'
import { renderImage } from '../src/adapters/image-engine/render.ts'
import { IMAGE_KINDS } from '../src/domain/image-task.ts'
import type { ImageSettings, ImageTaskKind } from '../src/domain/image-task.ts'
import { say, showFigure, showSpread, spread } from './support/figures.ts'

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
 * Wall time from file to file of the local image engine, against the same decoding, stages and encoding called in this
 * thread. Results have 4 megapixels; upscalers double a picture of one.
 */
export const run = async (): Promise<void> => {
  const dir = await mkdtemp(join(tmpdir(), 'kiln-bench-image-engine-'))
  const engine = makeLocalImageEngine({ maxPixels: MAX_PIXELS })
  try {
    for (const { kind, settings } of CASES) {
      const job = await makeJob(dir, kind, settings)
      report(kind, await measure(engine, job))
    }
  } finally {
    await engine.close()
    await rm(dir, { recursive: true, maxRetries: 5 })
  }
}

const makeJob = async (dir: string, kind: ImageTaskKind, settings: object): Promise<ImageJob> => {
  const divisor = kind.startsWith('upscale') ? 2 : 1
  const path = join(dir, `${kind}.jpg`)
  const sample = fileURLToPath(new URL('../samples/portrait.png', import.meta.url))
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

const onProgress = (): void => {}

/** Alternates both ways, after two rounds that warm either up. */
const measure = async (engine: ImageEngine, job: ImageJob): Promise<Times> => {
  const signal = new AbortController().signal
  const ways = {
    engine: () => engine.render(job, { signal, onProgress }),
    bare: () => renderImage(job, { maxPixels: MAX_PIXELS, onProgress }),
  }
  const times: Times = { engine: [], bare: [] }
  for (let round = -2; round < ROUNDS; round++)
    for (const way of round % 2 === 0
      ? (['engine', 'bare'] as const)
      : (['bare', 'engine'] as const)) {
      const seconds = await time(ways[way])
      if (round >= 0) times[way].push(seconds)
    }
  return times
}

const time = async (work: () => Promise<RenderedImage[]>): Promise<number> => {
  const start = performance.now()
  await work()
  return (performance.now() - start) / 1000
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
