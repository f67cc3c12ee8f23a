import { readFile } from 'node:fs/promises'
import { setPriority } from 'node:os'

import sharp, { type Sharp, type SharpOptions } from 'sharp'

import { TaskError } from '../../tasks/domain/task-error.ts'
import { probeImage } from '../../tasks/adapters/image-probe.ts'
import { CANNOT_BE_SHOWN, MAX_PIXELS, TOO_MANY_PIXELS } from './limits.ts'

/**
 * The process that makes one picture small: its path, the longest side in pixels, the milliseconds that it has, and `svg`
 * where it may be one. The WebP goes to standard output.
 */
const [path = '', side = '', maxMs = '', svg] = process.argv.slice(2)

// What a stranger makes it do holds up nothing else, and ends also when the parent is gone.
setPriority(19)
setTimeout(() => process.exit(CANNOT_BE_SHOWN), Number(maxMs)).unref()
const file = await readFile(path)
const options: SharpOptions = { limitInputPixels: MAX_PIXELS, failOn: 'error' }

/** Reads a drawing so that its longest side is as long as asked. One without an address may name no other file. */
const readDrawing = async (): Promise<Sharp> => {
  const { width, height } = await sharp(file, { limitInputPixels: false }).metadata()
  const density = (USUAL_DENSITY * Number(side)) / Math.max(width, height)
  return sharp(file, { ...options, density: Math.max(1, density) })
}
const USUAL_DENSITY = 72

const readRaster = async (): Promise<Sharp> => {
  await probeImage(path, { maxPixels: MAX_PIXELS })
  // sharp reads the first frame alone, and writes no metadata.
  return sharp(path, options).autoOrient()
}

try {
  sharp.concurrency(1)
  const isDrawing =
    svg !== undefined && /^\uFEFF?\s*<(?:svg|\?xml|!--|!doctype)/i.test(file.toString())
  const picture = isDrawing ? await readDrawing() : await readRaster()
  const small = picture.resize(Number(side), Number(side), {
    fit: 'inside',
    withoutEnlargement: true,
  })
  process.stdout.write(await small.toColourspace('srgb').webp().toBuffer())
} catch (error) {
  const isLarge = error instanceof TaskError && error.code === 'pixel_limit'
  process.exitCode = isLarge ? TOO_MANY_PIXELS : CANNOT_BE_SHOWN
}
