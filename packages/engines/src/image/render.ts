import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

import type { Size } from '../size.ts'
import type { ImageField, ImageJob, OutputFormat, RenderedImage } from '../image-job.ts'
import { InputError } from '../input-error.ts'
import { probeImage } from '../image-probe.ts'
import {
  MAX_SIDES,
  chooseFormat,
  writeRaster,
  dropEmptyAlpha,
  readRaster,
  readReduced,
} from '../raster-file.ts'
import { denoise, enlarge } from './enlarge.ts'
import { FLAVORS, planPrecision, planUpscale } from './upscale.ts'
import type { Raster } from './raster.ts'
import { toLightPlanes } from './relight/light-map.ts'
import { LIGHTMAP_BLUR, REFERENCE_BLUR, planRelight, type WantedLight } from './relight/relight.ts'
import { planSkin } from './skin.ts'
import { runStages, type Stage } from './stage.ts'
import type { NoiseSeed } from './noise.ts'

export interface RenderOptions {
  /** Largest input, in pixels. */
  maxPixels: number
  onProgress: (percent: number) => void
}

/** Per cent at which a part of the work is done, from the times of 4 megapixel runs. */
const DECODED = 10
const PREPARED = 20
const RENDERED = 70

/**
 * Renders one job on the calling thread, which it blocks for seconds. About 8 bytes for each pixel of the larger of source
 * and result, and the file; the whole process was measured at 0.4 GB for 25 megapixels and 1.0 GB for 100.
 */
export const renderImage = async (
  job: ImageJob,
  { maxPixels, onProgress }: RenderOptions,
): Promise<RenderedImage[]> => {
  const input = readInput(job, 'image')
  const probed = await probeImage(input, { maxPixels })
  validateSize(job, probed, chooseFormat(probed, job.output))
  const decoded = await readRaster(input, maxPixels)
  const source = probed.format === 'gif' ? dropEmptyAlpha(decoded) : decoded
  const format = chooseFormat({ ...probed, hasAlpha: source.channels === 4 }, job.output)
  validateSize(job, source, format)
  onProgress(DECODED)
  const { picture, stages } = await prepare(job, source, { input, maxPixels })
  onProgress(PREPARED)
  const report = (share: number) => onProgress(PREPARED + share * (RENDERED - PREPARED))
  const result = runStages(picture, stages, report)
  const rendered = await writeRaster(result, { ...job.output, format }, job.scratchDir)
  onProgress(100)
  return [rendered]
}

/** Reads an input once, for all who need its bytes: given its path, a decoder opens it five times. */
const readInput = (job: ImageJob, field: ImageField): Buffer => {
  const input = job.inputs[field]
  if (!input) throw new Error(`the job has no input ${field}`)
  return readFileSync(input.path)
}

const validateSize = (job: ImageJob, source: Size, format: OutputFormat): void => {
  const factor = scaleFactor(job)
  const [width, height] = [source.width * factor, source.height * factor]
  const { pixels = Infinity, side = Infinity } = job.maxResult ?? {}
  const given = `${source.width}×${source.height}`
  if (width * height > pixels)
    throw tooLarge(
      `the result has at most ${pixels} pixels; ${given} at ${factor}x gives ${width * height}`,
    )
  if (Math.max(width, height) > side)
    throw tooLarge(
      `each side of the result has at most ${side} pixels; ${given} at factor ${factor} gives ${width}×${height}`,
    )
  const max = MAX_SIDES[format]
  if (Math.max(width, height) > max)
    throw tooLarge(
      `each side of a ${NAMES[format]} result has at most ${max} pixels, got ${width}×${height}`,
    )
}

const NAMES = { png: 'PNG', jpg: 'JPEG', webp: 'WebP' } as const

const tooLarge = (what: string): InputError =>
  new InputError('pixel_limit', `image must be small enough that ${what}`)

const scaleFactor = ({ settings }: ImageJob): number =>
  'scale_factor' in settings ? Number.parseInt(String(settings.scale_factor), 10) : 1

interface Prepared {
  /** Input of the first stage: the source, or its plain enlargement. */
  picture: Raster
  stages: Stage[]
}

const prepare = async (
  job: ImageJob,
  source: Raster,
  { input, maxPixels }: { input: Buffer; maxPixels: number },
): Promise<Prepared> => {
  if (job.kind === 'relight') {
    const wanted = await readWantedLight(job, maxPixels)
    return { picture: source, stages: planRelight(source, job, wanted) }
  }
  const seed = makeSeed(input, job)
  if (job.kind === 'upscale') {
    const factor = scaleFactor(job)
    const picture = await enlarge(source, factor)
    return { picture, stages: planUpscale(picture, job.settings, { factor, seed }) }
  }
  if (job.kind === 'upscale_precision') {
    const { scale_factor, flavor } = job.settings
    const clean = FLAVORS[flavor].median ? await denoise(source) : source
    const picture = await enlarge(clean, scale_factor)
    return { picture, stages: planPrecision(picture, job.settings, seed) }
  }
  return { picture: source, stages: planSkin(source, job, seed) }
}

// A map is blurred by at least 2 % of its longer side, 5 pixels of these: more would add nothing.
const MAP_SIDE = 256

const readWantedLight = async (
  job: ImageJob,
  maxPixels: number,
): Promise<WantedLight | undefined> => {
  const fields = [
    ['transfer_light_from_lightmap', LIGHTMAP_BLUR],
    ['transfer_light_from_reference_image', REFERENCE_BLUR],
  ] as const
  for (const [field, blur] of fields) {
    if (job.inputs[field] === undefined) continue
    const file = readInput(job, field)
    await probeImage(file, { maxPixels })
    return { planes: toLightPlanes(await readReduced(file, maxPixels, MAP_SIDE)), blur }
  }
  return undefined
}

/** The grain's seed: SHA-256 of the input's bytes and all that is in the settings, so that an equal job gives equal bytes. */
const makeSeed = (input: Buffer, { kind, settings }: ImageJob): NoiseSeed => {
  const hash = createHash('sha256').update(input)
  hash.update(JSON.stringify([kind, sorted(settings)]))
  const digest = hash.digest()
  return [digest.readInt32BE(0), digest.readInt32BE(4)]
}

/** Members in the order of their names, at every depth. */
const sorted = (value: unknown): unknown =>
  value !== null && typeof value === 'object'
    ? Object.entries(value)
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, member]) => [name, sorted(member)])
    : value
