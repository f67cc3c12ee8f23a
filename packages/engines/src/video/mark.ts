import sharp from 'sharp'
import type { Size } from '../size.ts'
import type { PlacedPicture, Picture } from './picture.ts'
import { readMark } from './still.ts'
import type { VideoJob } from '../video-job.ts'

const WIDTH_SHARE = 0.12
const MARGIN_SHARE = 0.02
const OPACITY = 0.7

/**
 * The watermark of a job at its corner: 12 % of the frame's width, 2 % from its sides, 70 % opaque.
 * @throws InputError `image_invalid`, `pixel_limit` for a mark that is given
 */
export const placeMark = async (
  { position, path }: NonNullable<VideoJob['watermark']>,
  frame: Size,
  maxPixels: number,
): Promise<PlacedPicture> => {
  const margin = Math.round(frame.width * MARGIN_SHARE)
  const width = Math.max(1, Math.round(frame.width * WIDTH_SHARE))
  const height = Math.max(1, frame.height - 2 * margin)
  const picture = fade(
    path === undefined ? await drawMark(width) : await readMark(path, { width, height, maxPixels }),
  )
  const right = frame.width - margin - picture.width
  const bottom = frame.height - margin - picture.height
  const corners = {
    1: [margin, margin],
    2: [right, margin],
    3: [right, bottom],
    4: [margin, bottom],
  }
  const [x = 0, y = 0] = corners[position]
  return { picture, x, y }
}

const fade = (picture: Picture): Picture => {
  for (let i = 3; i < picture.data.length; i += 4)
    picture.data[i] = Math.round((picture.data[i] ?? 0) * OPACITY)
  return picture
}

/** The name in letters drawn as paths, so that no font decides how it looks, beside a flame. */
const MARK = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 64">
<defs><filter id="shadow" x="-10%" y="-20%" width="120%" height="140%"><feGaussianBlur stdDeviation="2.2"/></filter>
<g id="name" fill="none" stroke-width="7.5" stroke-linecap="round" stroke-linejoin="round">
<path d="M32 8C34 20 48 26 48 40C48 50 41 56 32 56C23 56 16 50 16 40C16 33 20 29 23 24C24 29 26 31 28 32C28 23 27 15 32 8Z"/>
<path d="M74 14V50M96 14L75 33L97 50"/><path d="M113 14V50"/><path d="M131 14V50H150"/><path d="M164 50V14L188 50V14"/>
</g></defs>
<use href="#name" stroke="#000" stroke-opacity="0.6" filter="url(#shadow)"/><use href="#name" stroke="#fff"/></svg>`

const drawMark = async (width: number): Promise<Picture> => {
  const { data, info } = await sharp(Buffer.from(MARK), { density: Math.max(72, width) })
    .resize({ width })
    .ensureAlpha()
    .toColourspace('srgb')
    .raw()
    .toBuffer({ resolveWithObject: true })
  return { data, width: info.width, height: info.height, channels: 4 }
}
