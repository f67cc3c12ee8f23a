import type { Size } from '../../../platform/domain/size.ts'
import type { AspectRatio, Resolution } from './video-model.ts'

/** Short side of each resolution in pixels. */
const SHORT_SIDE: Record<Resolution, number> = {
  '360p': 360,
  '540p': 540,
  '720p': 720,
  '1080p': 1080,
  '2K': 1440,
}

/** A start image may be this many times as long as it is wide, either way. */
const START_IMAGE_MAX_RATIO = 4

/** Size in pixels of a video without a start image. All its sides are even, as H.264 wants them. */
export const sizeOfRatio = (resolution: Resolution, ratio: AspectRatio): Size => {
  const [across = 1, down = 1] = ratio.split(':').map(Number)
  return sizeLike(resolution, { width: across, height: down })
}

/**
 * Size in pixels of a video that keeps the ratio of a start image or, in extend, of the source: the short side is the
 * resolution's, the long side the nearest even number (of two equally near ones the larger).
 * @param like width and height in the normal form: orientation applied
 */
export const sizeLike = (resolution: Resolution, like: Size): Size => {
  const short = SHORT_SIDE[resolution]
  const [shortLike, longLike] =
    like.width < like.height ? [like.width, like.height] : [like.height, like.width]
  const long = Math.round((short * longLike) / (2 * shortLike)) * 2
  return like.width < like.height ? { width: short, height: long } : { width: long, height: short }
}

/** A size as a ratio in lowest terms, such as `16:9`. */
export const ratioOf = ({ width, height }: Size): string => {
  const divisor = greatestCommonDivisor(width, height)
  return `${width / divisor}:${height / divisor}`
}

const greatestCommonDivisor = (one: number, other: number): number =>
  other === 0 ? one : greatestCommonDivisor(other, one % other)

/** The rest of the sentence that rejects an end image beside its start image, or undefined when it is allowed. */
export const endImageIssue = (end: Size, start: Size): string | undefined => {
  const quotient = (end.width * start.height) / (end.height * start.width)
  return quotient < 0.8 || quotient > 1.25
    ? `must have 0.8 to 1.25 times the aspect ratio of /images/0, ${start.width}×${start.height}, got ${end.width}×${end.height}`
    : undefined
}

/** The rest of the sentence that rejects a start image of this size, or undefined when it is allowed. */
export const startImageIssue = ({ width, height }: Size): string | undefined =>
  Math.max(width, height) > START_IMAGE_MAX_RATIO * Math.min(width, height)
    ? `must have an aspect ratio from 1:${START_IMAGE_MAX_RATIO} to ${START_IMAGE_MAX_RATIO}:1, got ${width}×${height}`
    : undefined
