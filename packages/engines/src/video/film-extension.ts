import { cameraFilter, makeCamera } from './camera.ts'
import type { InputFiles } from './input-file.ts'
import { fadeTo } from './fade.ts'
import { FPS, type Film, type FilmOptions } from './film.ts'
import { CALLERS, SCALER, VIDEO_COLOURS } from './options.ts'
import type { VideoJob } from '../video-job.ts'

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
    // The last frame is repeated by `tpad`; one more than enough, in case the source is a little shorter than it says.
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

/** A short fade at its end, because a wave that is cut clicks. */
const soundOf = (index: number, until: number, whole: number): string =>
  [
    `[${index}:a:0]aresample=48000:async=1:first_pts=0`,
    `aformat=sample_fmts=fltp:sample_rates=48000:channel_layouts=stereo`,
    `atrim=end=${until.toFixed(6)}`,
    `afade=t=out:st=${Math.max(0, until - 0.03).toFixed(6)}:d=0.03`,
    `apad,atrim=end=${whole.toFixed(6)}`,
  ].join(',')
