import { drawAnime } from './anime.ts'
import { cameraFilter, type Camera, makeCamera } from './camera.ts'
import { drawCaption } from './caption.ts'
import type { InputFiles } from './input-file.ts'
import { FROZEN, type Film } from './film.ts'
import { drawLayer, type Layer } from './scene/layer.ts'
import { makeScene } from './scene/scene.ts'
import type { VideoJob } from '../video-job.ts'

/** No image: a drawn scene whose layers move by their depth, and the prompt at the lower left. */
export const planScene = async (
  job: VideoJob,
  frames: number,
  inputs: InputFiles,
): Promise<Film> => {
  const frame = { width: job.width, height: job.height }
  const layers = makeScene(job.prompt, job.seed, frame)
  const chains: string[] = []
  for (const [index, layer] of layers.entries()) {
    const camera = cameraOf(job, layer)
    const top = topRow(layer, camera, frame.height)
    const drawn = await drawLayer(layer, frame, top)
    const picture = job.style === 'anime' ? await drawAnime(drawn) : drawn
    const chain = await inputs.addPicture(picture)
    const movement = cameraFilter(camera, { top, frame }, { frames }, true)
    chains.push(`${chain},${FROZEN},trim=end_frame=${frames},${movement}[layer${index}]`)
    if (index > 0) {
      const below = index === 1 ? '[layer0]' : `[scene${index - 1}]`
      chains.push(`${below}[layer${index}]overlay=x=0:y=${top}:format=yuv420[scene${index}]`)
    }
  }
  const graph = `${chains.join(';')};[scene${layers.length - 1}]null`
  const picture = await drawCaption(job.prompt, frame)
  if (picture === undefined) return { graph, frames }
  const margin = Math.round(Math.min(frame.width, frame.height) * MARGIN_SHARE)
  const y = frame.height - margin - picture.height
  return { graph, frames, caption: { picture, x: margin, y } }
}

/** Between the caption and the sides of the frame, of the shorter one. */
const MARGIN_SHARE = 0.03

const cameraOf = (job: VideoJob, { depth, sway }: Layer): Camera => {
  const camera = makeCamera(job)
  const zoom = camera.zoom * depth
  if (sway === undefined) return { ...camera, zoom }
  // Room on both sides for the widest swing.
  return { ...camera, zoom, sway, base: 1 / (1 - 2 * Math.max(Math.abs(sway.x), Math.abs(sway.y))) }
}

/** The highest row that any part of a layer ever reaches. It is even, because chroma has only every second row. */
const topRow = (layer: Layer, { base, zoom }: Camera, height: number): number => {
  const most = base * (1 + zoom)
  // At its largest, with the view at the lower end of its room.
  const highest = layer.top * most - height * (most - 1)
  return Math.max(0, 2 * Math.floor(highest / 2) - 2)
}
