import type { VideoJob } from '../../src/engines/video-engine/video-engine.ts'
import { effectiveVideoSettings } from '../../src/tasks/domain/video/video-defaults.ts'
import type {
  ExtendSettings,
  TextToVideoSettings,
} from '../../src/tasks/domain/video/video-defaults.ts'
import { END_IMAGE } from '../../src/tasks/domain/video/end-image.ts'
import { VideoError } from '../../src/tasks/domain/video/video-error.ts'
import { recommendedPrompt } from '../../src/tasks/domain/video/video-prompt.ts'
import {
  endImageIssue,
  sizeLike,
  sizeOfRatio,
  startImageIssue,
} from '../../src/tasks/domain/video/video-size.ts'
import type { Size } from '../../src/platform/domain/size.ts'
import type { VideoTaskKind } from '../../src/tasks/domain/video/video-task.ts'
import type { FetchedInput } from './fetch-inputs.ts'

interface Task {
  id: string
  kind: VideoTaskKind
  settings: object
}

type Inputs = Readonly<Record<string, FetchedInput>>
type Place = Pick<VideoJob, 'scratchDir' | 'deadlineMs' | 'tiny'>

/**
 * Makes the job of an engine from a task and its fetched inputs.
 * @throws VideoError ImageSizeInvalid for a start image of a shape that no video has
 */
export const makeVideoJob = (task: Task, inputs: Inputs, place: Place): VideoJob =>
  task.kind === 'extend'
    ? makeExtension(task.id, task.settings as ExtendSettings, { inputs, place })
    : makeFilm(task.id, task.settings as TextToVideoSettings, { inputs, place })

interface Given {
  inputs: Inputs
  place: Place
}

const makeFilm = (
  taskId: string,
  settings: TextToVideoSettings,
  { inputs, place }: Given,
): VideoJob => {
  const start = inputs['images']
  const end = inputs[END_IMAGE]
  // The image has a row of its own. The settings need only know that there is one.
  const effective = effectiveVideoSettings({ ...settings, ...(start && { images: [''] }) })
  const { seed, resolution, watermark, meta_data: metaData } = effective
  const mark = inputs['wm_url']
  return {
    ...place,
    taskId,
    ...(start ? sizeOfStart(resolution, start) : sizeOfRatio(resolution, settings.aspect_ratio)),
    seconds: effective.duration,
    seed,
    prompt: effective.recommended ? recommendedPrompt(seed) : (effective.prompt ?? ''),
    ...(start && { startImage: { path: start.path } }),
    ...(start && end && { endImage: endOf(start, end) }),
    movement: effective.movement_amplitude,
    style: effective.style,
    audio: effective.audio_type ?? 'none',
    bgm: effective.bgm,
    ...(watermark && {
      watermark: {
        position: watermark.position as 1 | 2 | 3 | 4,
        ...(mark && { path: mark.path }),
      },
    }),
    ...(metaData === undefined ? undefined : { metaData }),
  }
}

const sizeOfStart = (resolution: TextToVideoSettings['resolution'], image: FetchedInput): Size => {
  const error = startImageIssue(image)
  if (error !== undefined) throw new VideoError('ImageSizeInvalid', `/images/0 ${error}`)
  return sizeLike(resolution, image)
}

const endOf = (start: FetchedInput, end: FetchedInput): { path: string } => {
  const error = endImageIssue(end, start)
  if (error !== undefined) throw new VideoError('ImageSizeInvalid', `/images/1 ${error}`)
  return { path: end.path }
}

/** Longest side of a result in pixels: H.264 ends a little above. */
const MAX_SIDE = 8192

const sizeOfSource = (resolution: ExtendSettings['resolution'], source: FetchedInput): Size => {
  const size = sizeLike(resolution, source)
  if (Math.max(size.width, size.height) <= MAX_SIDE) return size
  const got = `${source.width}×${source.height}`
  throw new VideoError(
    'VideoFormatInvalid',
    `The source video is too narrow: at ${resolution} a side would be longer than ${MAX_SIDE} pixels, got ${got}.`,
  )
}

const makeExtension = (
  taskId: string,
  settings: ExtendSettings,
  { inputs, place }: Given,
): VideoJob => {
  const own = inputs['video_creation_id']
  const source = own ?? inputs['video_url']
  if (!source) throw new Error('an extension without a source')
  const end = inputs['images']
  return {
    ...place,
    taskId,
    ...sizeOfSource(settings.resolution, source),
    seconds: settings.duration,
    // An extension takes no seed: equal requests give equal videos.
    seed: 0,
    prompt: '',
    source: { path: source.path, isOwn: source === own },
    ...(end && { endImage: { path: end.path } }),
    movement: 'auto',
    style: 'general',
    audio: 'none',
    bgm: false,
  }
}
