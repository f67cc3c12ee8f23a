import type { Size } from '../size.ts'
import { makeRandom } from './random.ts'
import type { VideoJob } from '../video-job.ts'

/**
 * A movement over a picture: it is enlarged from `base` to `base` × (1 + `zoom`) while the view moves from its middle
 * towards `towards`, and may sway. Both ends are at rest.
 */
export interface Camera {
  /** Enlargement at the start, ≥ 1; more than 1 leaves room to sway. */
  base: number
  /** 0.1 enlarges by 10 %. */
  zoom: number
  /** End of the view, −1..1 of the room that the enlargement leaves on each side. */
  towards: Point
  /** Amplitude in widths and heights of the frame, and number of swings, for a movement to and fro. */
  sway?: Point & { swings: number; phase: number }
  /** Backwards: it ends with the picture as it is. */
  reversed?: boolean
}

export interface Point {
  x: number
  y: number
}

/** Part of the frame that a picture fills: all, or a strip. Pixels. */
export interface Strip {
  top: number
  frame: Size
}

/** Frames over which a movement lasts, after those in which nothing moves. */
export interface Span {
  frames: number
  after?: number
}

export const ENLARGEMENT = { small: 0.05, auto: 0.1, medium: 0.1, large: 0.2 } as const

/**
 * ffmpeg's `perspective` filter that makes the movement. It samples between pixels, so slow movements do not jerk.
 * With `zoompan` and `overlay` they would, because these step by whole pixels.
 * @param soft bilinear for pictures without fine detail, at half the cost of bicubic
 */
export const cameraFilter = (
  camera: Camera,
  { top, frame }: Strip,
  { frames, after = 0 }: Span,
  soft = false,
): string => {
  // `on` counts from 1 in every version.
  const share = `clip((on-${1 + after})/${Math.max(1, frames - 1)},0,1)`
  const eased = `(1-cos(PI*${share}))/2`
  const zoomed = camera.reversed ? `(1-${eased})` : eased
  const scale = `(${number(camera.base)}*(1+${number(camera.zoom)}*${zoomed}))`
  const left = corner(camera, 'x', { share, scale, side: frame.width })
  const up = corner(camera, 'y', { share, scale, side: frame.height })
  const y0 = top === 0 ? up : `${up}+${top}/${scale}-${top}`
  const x1 = `${left}+W/${scale}`
  const y2 = `${y0}+H/${scale}`
  const corners = [left, y0, x1, y0, left, y2, x1, y2]
  const options = corners.map((text, i) => `${i % 2 === 0 ? 'x' : 'y'}${i >> 1}='${text}'`)
  const enabled = after === 0 ? '' : `:enable='gte(n,${after})'`
  return `perspective=${options.join(':')}:interpolation=${soft ? 'linear' : 'cubic'}:eval=frame${enabled}`
}

/**
 * Position of the left or upper side of the view: in the middle, moved to one end of the room as it opens, and swaying.
 */
const corner = (
  { towards, sway, base }: Camera,
  axis: 'x' | 'y',
  { share, scale, side }: { share: string; scale: string; side: number },
): string => {
  const room = `(1-1/${scale})/2`
  const start = number((1 - 1 / base) / 2)
  const moved = `${side}*(${room}+${number(towards[axis])}*(${room}-${start}))`
  if (sway === undefined || sway[axis] === 0) return moved
  const angle = `2*PI*(${number(sway.swings)}*${share}+${number(sway.phase)})`
  return `${moved}+${number(side * sway[axis])}*sin(${angle})`
}

/** Fixed digits, so that the text of a filter does not depend on how a number is printed. */
const number = (value: number): string => value.toFixed(5)

/** Ken Burns: towards a point away from the middle, so that the picture both grows and slides. */
export const makeCamera = ({ seed, movement }: Pick<VideoJob, 'seed' | 'movement'>): Camera => {
  const angle = 2 * Math.PI * makeRandom(seed, 'camera')()
  const towards = { x: 0.8 * Math.cos(angle), y: 0.8 * Math.sin(angle) }
  return { base: 1, zoom: ENLARGEMENT[movement], towards }
}
