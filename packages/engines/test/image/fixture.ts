import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import sharp from 'sharp'
import { Value } from 'typebox/value'
import { renderImage } from '../../src/image/render.ts'
import type { ImageJob, RenderedImage } from '../../src/image-job.ts'
import { IMAGE_KINDS } from '../../../../src/tasks/domain/image/image-kind.ts'
import type { ImageSettings, ImageTaskKind } from '../../../../src/tasks/domain/image/image-kind.ts'
import { isNeutral, readPrompt } from '../../../../src/tasks/domain/image/prompt-light.ts'
import type { Pixels } from './measure.ts'
import { ROOT } from '../../../../src/local/root.ts'
import { use } from '../../../../test/support/use.ts'

type Inputs = Partial<Record<'lightmap' | 'reference', string>>

export interface Sample {
  path: string
  pixels: Pixels
}

const SAMPLES = ['portrait', 'stillLife'] as const

/** A folder with the committed samples, reduced to `side` pixels so that a file of tests takes seconds. */
export type Fixture = Awaited<ReturnType<typeof openFixture>>

/** Opens a fixture before the first test of a file, prepares what the tests need of it, and closes it after the last. */
export const useFixture = (
  side?: number,
  prepare?: (fixture: Fixture) => Promise<void> | void,
): Fixture =>
  use(
    async () => {
      const fixture = await openFixture(side)
      await prepare?.(fixture)
      return fixture
    },
    ({ close }) => close(),
  )

/** Makes the function that declares a test for each of the samples. */
export const testOnSamples =
  (fixture: Fixture) =>
  (title: string, check: (sample: Sample) => Promise<void>): void => {
    for (const name of SAMPLES) test(`${title} (${name})`, () => check(fixture.samples[name]))
  }

const openFixture = async (side = 192) => {
  const dir = await mkdtemp(join(tmpdir(), 'kiln-image-engine-'))
  const results = { count: 0 }
  const renderFile = async (
    kind: ImageTaskKind,
    path: string,
    settings: object = {},
    inputs: Inputs = {},
  ): Promise<RenderedImage> => {
    const scratchDir = join(dir, `${++results.count}`)
    await mkdir(scratchDir)
    const job = makeJob(kind, path, { settings, inputs, scratchDir })
    const light = readPrompt('prompt' in job.settings ? (job.settings.prompt ?? '') : '')
    const lit = { ...job, ...(!isNeutral(light) && { light }) } as ImageJob
    const [image] = await renderImage(lit, { maxPixels: 100_000_000, onProgress: () => {} })
    if (!image) throw new Error('nothing was rendered')
    return image
  }
  return {
    dir,
    samples: {
      portrait: await reduce(dir, 'portrait', side),
      stillLife: await reduce(dir, 'still-life', side),
    },
    renderFile,
    /** Renders with defaults applied to `settings` and decodes the result. */
    render: async (...args: Parameters<typeof renderFile>) =>
      readPixels((await renderFile(...args)).file),
    /** Writes a picture into the fixture's folder and returns its path. */
    write: async (name: string, bytes: Uint8Array): Promise<string> => {
      await writeFile(join(dir, name), bytes)
      return join(dir, name)
    },
    close: async (): Promise<void> => {
      await rm(dir, { recursive: true, maxRetries: 5 })
    },
  }
}

const reduce = async (dir: string, name: string, side: number): Promise<Sample> => {
  const path = join(dir, `${name}.png`)
  const sample = join(ROOT, `samples/${name}.png`)
  await sharp(sample).resize(side, side, { fit: 'inside' }).png().toFile(path)
  return { path, pixels: await readPixels(path) }
}

export const makeJob = (
  kind: ImageTaskKind,
  path: string,
  given: { settings?: object; inputs?: Inputs; scratchDir: string },
) => {
  const settings = Value.Default(IMAGE_KINDS[kind].settings, structuredClone(given.settings ?? {}))
  const { lightmap, reference } = given.inputs ?? {}
  return {
    kind,
    settings: settings as ImageSettings,
    inputs: {
      image: { path },
      ...(lightmap && { transfer_light_from_lightmap: { path: lightmap } }),
      ...(reference && { transfer_light_from_reference_image: { path: reference } }),
    },
    scratchDir: given.scratchDir,
  }
}

/** Renders once for each value, in turn. */
export const series = async <const T extends readonly unknown[]>(
  values: T,
  render: (value: T[number]) => Promise<Pixels>,
): Promise<{ -readonly [K in keyof T]: Pixels }> => {
  const pixels: Pixels[] = []
  for (const value of values) pixels.push(await render(value))
  return pixels as { -readonly [K in keyof T]: Pixels }
}

/** Measures what is rendered at each of the values of a slider. */
export const slide = async (
  values: readonly number[],
  render: (value: number) => Promise<Pixels>,
  measure: (pixels: Pixels) => number,
): Promise<number[]> => (await series(values, render)).map((each) => measure(each))

/** Points of a slider from 0 to 100. */
export const QUARTERS = [0, 25, 50, 75, 100] as const

/** Decodes a file as it is: no orientation, no conversion but to 8-bit sRGB. */
export const readPixels = async (file: string | Uint8Array): Promise<Pixels> => {
  const { data, info } = await sharp(file).raw().toBuffer({ resolveWithObject: true })
  return { width: info.width, height: info.height, channels: info.channels, data }
}

/** A PNG whose pixels a function of column and row gives. */
export const draw = (
  { width, height }: { width: number; height: number },
  colour: (x: number, y: number) => number[],
): Promise<Buffer> => {
  const pixels = Array.from({ length: width * height }, (_, i) =>
    colour(i % width, Math.floor(i / width)),
  )
  const channels = (pixels[0]?.length ?? 3) as 1 | 2 | 3 | 4
  return sharp(Uint8Array.from(pixels.flat()), { raw: { width, height, channels } })
    .png()
    .toBuffer()
}

/** P of the design: sharp's own enlargement of a file, nothing else. */
export const plainEnlargement = async (
  { path, pixels }: Sample,
  factor: number,
): Promise<Pixels> => {
  const [width, height] = [pixels.width * factor, pixels.height * factor]
  const resized = sharp(path).resize(width, height, { kernel: 'lanczos3', fit: 'fill' })
  const { data, info } = await resized.raw().toBuffer({ resolveWithObject: true })
  return { width, height, channels: info.channels, data }
}
