import sharp from 'sharp'
import type { Sharp } from 'sharp'
import type { Size } from '../../size.ts'
import type { Picture } from '../picture.ts'

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
export const drawLayer = async (layer: Layer, frame: Size, top: number): Promise<Picture> => {
  const colours = drawSvg(layer.colour, frame, top)
  const [width, height] = [frame.width, frame.height - top]
  if (layer.mask === undefined)
    return { data: await colours.raw().toBuffer(), width, height, channels: 3 }
  const mask = await drawSvg(layer.mask, frame, top).extractChannel(0).raw().toBuffer()
  const alpha = { raw: { width, height, channels: 1 as const } }
  const data = await colours.joinChannel(mask, alpha).raw().toBuffer()
  return { data, width, height, channels: 4 }
}

const drawSvg = (body: string, { width, height }: Size, top: number): Sharp => {
  const rows = height - top
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${rows}" viewBox="0 ${top} ${width} ${rows}">${body}</svg>`
  return sharp(Buffer.from(svg)).toColourspace('srgb').flatten({ background: '#000' })
}
