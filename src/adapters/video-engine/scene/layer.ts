import sharp from 'sharp'
import type { Sharp } from 'sharp'
import type { Picture } from '../picture.ts'
import type { Palette } from './palette.ts'

export interface Frame {
  width: number
  height: number
}

/** What every layer of a scene is drawn from. */
export interface Setting {
  frame: Frame
  seed: number
  palette: Palette
  /** Where the sky ends, pixels from the top. */
  horizon: number
  /** Middle of the sun's or moon's disc, pixels, and its radius. */
  light: { x: number; y: number; radius: number }
}

/** One plane of a scene: SVG in the coordinates of the frame. */
export interface Layer {
  /** Fills the whole strip, so that no other colour shines through at the edges of the mask. */
  colour: string
  /** White where the layer is seen; absent, it is seen everywhere. */
  mask?: string
  /** The first row with anything in it, in pixels of the frame. */
  top: number
  /** Share of the camera's movement: 1 is the nearest. */
  depth: number
  /** Movement of its own, in widths and heights of the frame. */
  sway?: { x: number; y: number; swings: number; phase: number }
}

/** Renders the rows of a layer from `top` on; with alpha when it has a mask. */
export const drawLayer = async (layer: Layer, frame: Frame, top: number): Promise<Picture> => {
  const colours = drawSvg(layer.colour, frame, top).flatten({ background: '#000' })
  const height = frame.height - top
  if (layer.mask === undefined)
    return { data: await colours.raw().toBuffer(), width: frame.width, height, channels: 3 }
  const mask = await drawSvg(layer.mask, frame, top)
    .flatten({ background: '#000' })
    .extractChannel(0)
    .raw()
    .toBuffer()
  const alpha = { raw: { width: frame.width, height, channels: 1 as const } }
  const data = await colours.joinChannel(mask, alpha).raw().toBuffer()
  return { data, width: frame.width, height, channels: 4 }
}

const drawSvg = (body: string, { width, height }: Frame, top: number): Sharp => {
  const rows = height - top
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${rows}" viewBox="0 ${top} ${width} ${rows}">${body}</svg>`
  return sharp(Buffer.from(svg)).toColourspace('srgb')
}

/** A stop of an SVG gradient. */
export const stop = (at: number, colour: string, opacity = 1): string =>
  `<stop offset="${at.toFixed(4)}" stop-color="${colour}" stop-opacity="${opacity.toFixed(3)}"/>`

/** A vertical gradient between two rows of the frame. */
export const verticalGradient = (id: string, from: number, to: number, stops: string[]): string =>
  `<linearGradient id="${id}" gradientUnits="userSpaceOnUse" x1="0" x2="0" y1="${from.toFixed(1)}" y2="${to.toFixed(1)}">${stops.join('')}</linearGradient>`

export const radialGradient = (id: string, stops: string[]): string =>
  `<radialGradient id="${id}">${stops.join('')}</radialGradient>`

export const fill = (frame: Frame, paint: string): string =>
  `<rect width="${frame.width}" height="${frame.height}" fill="${paint}"/>`
