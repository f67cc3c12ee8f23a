import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import sharp from 'sharp'

import { readContainer } from './container.ts'
import { peekInto } from './image-parts.ts'
import { probeImage, type ProbedImage } from './image-probe.ts'

type Animated = 'gif' | 'png' | 'webp'

/** Finds out in which format a picture moves; undefined of one that is still. */
export const readAnimation = async (
  path: string,
  { format }: Pick<ProbedImage, 'format'>,
): Promise<Animated | undefined> => {
  if (format === 'png') return (await isMovingPng(path)) ? format : undefined
  if (format !== 'gif' && format !== 'webp') return undefined
  return ((await sharp(path, { animated: true }).metadata()).pages ?? 1) > 1 ? format : undefined
}

/** libvips shows the first frame alone: a chunk before the pixels says that there are more. */
const isMovingPng = (path: string): Promise<boolean> =>
  peekInto(path, async (peek) => {
    for (let at = 8; ;) {
      const head = await peek(at, 12)
      const type = head.toString('latin1', 4, 8)
      if (head.length < 12 || type === 'IDAT') return false
      if (type === 'acTL') return head.readUInt32BE(8) > 1
      at += PNG.sizeOf(head, 0)
    }
  })

/** Places of the parts of a chunk, and the chunks that make the picture. */
const PNG = {
  start: 8,
  typeAt: 4,
  sizeOf: (bytes: Buffer, at: number): number => 12 + bytes.readUInt32BE(at),
  kept: 'IHDR PLTE tRNS sRGB gAMA acTL fcTL IDAT fdAT IEND'.split(' '),
}
const WEBP: typeof PNG = {
  start: 12,
  typeAt: 0,
  sizeOf: (bytes, at) => 8 + Math.ceil(bytes.readUInt32LE(at + 4) / 2) * 2,
  kept: ['VP8X', 'ANIM', 'ANMF'],
}

/**
 * Copies an animation with its frames as they are, without what stands in the file beside them.
 * @throws Error when it is cut
 */
export const copyAnimation = async (from: string, to: string, format: Animated): Promise<void> => {
  if (format === 'gif') {
    await sharp(from, { animated: true, limitInputPixels: false, failOn: 'error' }).gif().toFile(to)
    return
  }
  const [bytes, { start, typeAt, sizeOf, kept }] = [
    await readFile(from),
    format === 'png' ? PNG : WEBP,
  ]
  const parts = [bytes.subarray(0, start)]
  for (let at = start; at < bytes.length;) {
    const end = at + (at + 8 > bytes.length ? Infinity : sizeOf(bytes, at))
    if (end > bytes.length) throw new Error('the animation is cut')
    const type = bytes.toString('latin1', at + typeAt, at + typeAt + 4)
    if (kept.includes(type)) parts.push(bytes.subarray(at, end))
    // Profile, EXIF and XMP are not there any more.
    if (type === 'VP8X') bytes[at + 8] = (bytes[at + 8] ?? 0) & ~0x2c
    at = end
  }
  const copied = Buffer.concat(parts)
  if (format === 'webp') copied.writeUInt32LE(copied.length - 8, 4)
  else if (copied.toString('latin1', copied.length - 8, copied.length - 4) !== 'IEND')
    throw new Error('the animation is cut')
  await writeFile(to, copied)
}

/**
 * Finds the options with which ffmpeg reads a video, or an animation as one. What ffmpeg does not read as frames over time
 * is written into the folder as bare pixels.
 * @throws Error when a file is neither
 */
export const readAsVideo = async (
  path: string,
  dir: string,
): Promise<{ container?: string; options: string[] }> => {
  const probed = await probeImage(path, { maxPixels: Infinity }).catch(() => undefined)
  const moving = probed && (await readAnimation(path, probed))
  const container = moving === 'png' ? 'apng' : await readContainer(path)
  if (container !== undefined)
    return { container, options: ['-f', container, '-i', `file:${path}`] }
  if (moving === undefined) throw new Error('the file is no video')
  const picture = sharp(path, { animated: true, limitInputPixels: false, failOn: 'error' })
  const { width, height, pageHeight = height, pages = 1, delay = [] } = await picture.metadata()
  // sharp writes bare pixels to memory alone.
  const pixels = await picture.removeAlpha().toColourspace('srgb').raw().toBuffer()
  await writeFile(join(dir, 'frames'), pixels)
  const ms = delay.reduce((sum, one) => sum + one, 0) / pages || 100
  const raw = ['-f', 'rawvideo', '-pix_fmt', 'rgb24', '-video_size', `${width}x${pageHeight}`]
  return { options: [...raw, '-framerate', String(1000 / ms), '-i', 'file:frames'] }
}
