import { drawAnime } from './anime.ts'
import { cameraFilter, ENLARGEMENT, type Camera, makeCamera } from './camera.ts'
import { FPS, FROZEN } from './film.ts'
import type { InputFiles } from './input-file.ts'
import { readStill } from './still.ts'
import type { VideoJob } from '../video-job.ts'

interface Fade {
  /** Film that the end image fades over: `length` frames, then `added` more. */
  continued: string
  length: number
  added: number
  inputs: InputFiles
  maxPixels: number
}

/** Fades to the end image, which comes to rest meanwhile. In the last tenth it stands unchanged. */
export const fadeTo = async (
  job: VideoJob,
  path: string,
  { continued, length, added, inputs, maxPixels }: Fade,
): Promise<string> => {
  const picture = await readStill(path, { ...job, maxPixels })
  const chain = await inputs.addPicture(job.style === 'anime' ? await drawAnime(picture) : picture)
  const still = Math.max(1, Math.round(added / 10))
  const fading = Math.max(1, Math.min(2 * FPS, Math.round(added * 0.6)))
  const start = Math.max(0, added - still - fading)
  const camera: Camera = {
    ...makeCamera({ ...job, seed: job.seed ^ 1 }),
    zoom: ENLARGEMENT[job.movement] / 2,
    reversed: true,
  }
  const lasting = added - start
  const movement = cameraFilter(camera, { top: 0, frame: job }, { frames: lasting - still })
  const end = [
    `${chain},format=yuva420p,${FROZEN},trim=end_frame=${lasting}`,
    movement,
    `fade=t=in:alpha=1:start_frame=0:nb_frames=${fading},setpts=N+${length + start}[end]`,
  ].join(',')
  return `${continued},settb=1/24,setpts=N[continued];${end};[continued][end]overlay=format=yuv420:eof_action=repeat`
}
