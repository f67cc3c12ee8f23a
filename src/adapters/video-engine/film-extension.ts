import { cameraFilter, ENLARGEMENT } from './camera.ts'
import type { Camera } from './camera.ts'
import type { InputFiles } from './input-file.ts'
import { FPS, HELD } from './film.ts'
import type { Film, FilmOptions } from './film.ts'
import { makeCamera } from './film-still.ts'
import { CALLERS, SCALER, VIDEO_COLOURS } from './options.ts'
import { readStill } from './still.ts'
import type { VideoJob } from './video-engine.ts'

/**
 * The scaled source, then the added time, which begins with the last frame: a zoom and pan or, with an end image, a
 * cross-fade to it. The sound of the source is kept; silence follows.
 */
export const planExtension = async (
  job: VideoJob,
  added: number,
  inputs: InputFiles,
  { maxPixels, source }: FilmOptions,
): Promise<Film> => {
  if (job.source === undefined || source === undefined) throw new Error('the source is not probed')
  const length = Math.max(1, Math.round(source.seconds * FPS))
  const frames = length + added
  const index = inputs.addFile(job.source.path, [...CALLERS, '-f', source.container])
  const continued = [
    `[${index}:${source.stream}]${scaleTo(job)}`,
    // The last frame is held by `tpad`; one more than enough, in case the source is a little shorter than it says.
    `fps=${FPS}:start_time=0,tpad=stop=${frames}:stop_mode=clone,trim=end_frame=${frames}`,
    cameraFilter(makeCamera(job), { top: 0, frame: job }, { frames: added, after: length }),
  ].join(',')
  const graph =
    job.endImage === undefined
      ? continued
      : await fadeTo(job, job.endImage.path, { continued, length, added, inputs, maxPixels })
  if (!source.hasAudio) return { graph, frames }
  return { graph, frames, sound: soundOf(index, length / FPS, frames / FPS) }
}

const scaleTo = ({ width, height }: VideoJob): string =>
  `scale=${width}:${height}:${VIDEO_COLOURS}:${SCALER},format=yuv420p,setsar=1`

interface Fade {
  continued: string
  length: number
  added: number
  inputs: InputFiles
  maxPixels: number
}

/** The end image settles while it fades in. In the last tenth it stands unchanged. */
const fadeTo = async (
  job: VideoJob,
  path: string,
  { continued, length, added, inputs, maxPixels }: Fade,
): Promise<string> => {
  const chain = await inputs.addPicture(await readStill(path, { ...job, maxPixels }))
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
    `${chain},format=yuva420p,${HELD},trim=end_frame=${lasting}`,
    movement,
    `fade=t=in:alpha=1:start_frame=0:nb_frames=${fading},setpts=N+${length + start}[end]`,
  ].join(',')
  return `${continued},settb=1/24,setpts=N[continued];${end};[continued][end]overlay=format=yuv420:eof_action=repeat`
}

/** A short fade at its end, because a wave that is cut clicks. */
const soundOf = (index: number, until: number, whole: number): string =>
  [
    `[${index}:a:0]aresample=48000:async=1:first_pts=0`,
    `aformat=sample_fmts=fltp:sample_rates=48000:channel_layouts=stereo`,
    `atrim=end=${until.toFixed(6)}`,
    `afade=t=out:st=${Math.max(0, until - 0.03).toFixed(6)}:d=0.03`,
    `apad,atrim=end=${whole.toFixed(6)}`,
  ].join(',')
