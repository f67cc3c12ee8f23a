import { probeImage } from '../../src/tasks/adapters/image-probe.ts'
import type { RenderedVideo } from '../../packages/engines/src/video-job.ts'
import type { VideoJob } from '../../src/engines/video-engine/video-engine.ts'
import type { NewCreation } from '../../src/tasks/db/video/creation.ts'
import type { ClaimedVideoTask } from '../../src/tasks/db/video/video-task.ts'
import { describeCauses } from '../../src/platform/domain/causes.ts'
import type { VideoTiming } from '../../src/tasks/domain/render-timing.ts'
import { TaskError } from '../../src/tasks/domain/task-error.ts'
import type { VideoTaskKind } from '../../src/tasks/domain/video/video-task.ts'
import { END_IMAGE } from '../../src/tasks/domain/video/end-image.ts'
import { videoFiles } from '../../src/tasks/domain/video/video-record.ts'
import { toVideoError, VideoError } from '../../src/tasks/domain/video/video-error.ts'
import { failpoint } from '../../src/platform/process/failpoint.ts'
import { timeRender } from '../../src/platform/process/metrics.ts'
import { EngineError, runAttempt } from './render-attempt.ts'
import type { RenderAttempt } from './render-attempt.ts'
import type { AttemptOptions, TaskStanding } from '../tasks/task.ts'
import type { HostDependencies, LocalDependencies, RenderDependencies } from './dependencies.ts'
import { fetchInputs } from './fetch-inputs.ts'
import type { FetchedInput, InputRule } from './fetch-inputs.ts'
import { makeVideoJob } from './video-job.ts'

export interface VideoAttempt extends RenderAttempt {
  timing: VideoTiming
}

/** Finished files in the scratch folder of the attempt. */
export interface RenderedVideoFiles extends Pick<RenderedVideo, 'video' | 'cover' | 'watermarked'> {
  creation: Omit<NewCreation, 'name'>
}

/** Makes the videos of a task with an engine: one at least. */
export type MakeVideo = (
  task: ClaimedVideoTask,
  attempt: VideoAttempt,
) => Promise<RenderedVideoFiles[]>

/**
 * Makes the activity that renders a video task: claims it with a new fence, has the engine make the video, stores it under
 * the fence and completes the task. Returns how that stands. Issues of the input end the task at once; errors of engine
 * and store are tried three times.
 */
export const makeRenderVideoTask =
  (deps: RenderDependencies, make: MakeVideo) =>
  (options: AttemptOptions<VideoTiming>): Promise<TaskStanding> =>
    runAttempt<VideoTaskKind>(deps, { ...options, family: 'video' }, async (task, attempt) => {
      const videos = await make(task, { ...attempt, timing: options.timing })
      const creations = videos.map(({ creation }, index) => ({
        ...creation,
        name: videoFiles(index + 1).video,
      }))
      return { files: videos.flatMap(listFiles), picture: videos[0]?.cover, creations }
    })

/** The local engine: fetches the inputs and renders them here. */
export const makeLocalVideo =
  (deps: LocalDependencies): MakeVideo =>
  async (task, attempt) => {
    const inputs = await fetchVideoInputs(deps, task, attempt, makeInspectSource(deps, attempt))
    const job = makeVideoJob(task, inputs, {
      scratchDir: attempt.scratchDir,
      deadlineMs: Math.max(1, Math.round((attempt.timing.deadlineSeconds - task.age) * 1000)),
      tiny: deps.tinyVideos,
    })
    attempt.report('rendering', 0)
    const { frames, fps, width, height, ...files } = await runEngine(deps, task, job, attempt)
    return [{ ...files, creation: { seconds: frames / fps, fps, width, height } }]
  }

/** Makes the rule for the source of an extension, or for any video of a caller's. */
export const makeInspectSource =
  (
    { videoEngine }: Pick<HostDependencies, 'videoEngine'>,
    attempt: RenderAttempt,
    leastSeconds?: number,
  ): InspectSource =>
  async (field, path) => {
    const isOwn = field === 'video_creation_id' && leastSeconds === undefined
    const source = { path, isOwn, ...(leastSeconds !== undefined && { leastSeconds }) }
    const { container, width, height } = await videoEngine.probeSource(source, attempt)
    return { extension: container === 'mov' ? 'mp4' : 'mkv', width, height }
  }

const POINTERS: Readonly<Record<string, string>> = {
  images: '/images/0',
  [END_IMAGE]: '/images/1',
}

/** Finds what the source of an extension is. */
export type InspectSource = (field: string, path: string) => ReturnType<InputRule['inspect']>

/** Fetches the images, the watermark and the source of a task. */
export const fetchVideoInputs = (
  deps: RenderDependencies,
  task: ClaimedVideoTask,
  attempt: RenderAttempt,
  inspectSource: InspectSource,
): Promise<Record<string, FetchedInput>> =>
  fetchInputs(deps, { task, attempt, ruleOf: (field) => ruleOf(deps, field, inspectSource) })

/** Makes the rule for an input, with the words of its errors. */
const ruleOf = (
  { limits }: RenderDependencies,
  field: string,
  inspectSource: InspectSource,
): InputRule => {
  if (field === 'video_url' || field === 'video_creation_id')
    return {
      pointer: `/${field}`,
      limits: limits.video,
      toError: (error) => toVideoError(error, 'video'),
      inspect: (path) => inspectSource(field, path),
    }
  const pointer = POINTERS[field] ?? `/${field}`
  return {
    pointer,
    limits: field === 'wm_url' ? limits.watermark : limits.image,
    toError: (error) => toVideoError(error, 'image'),
    inspect: (path) => probeImage(path, limits),
  }
}

const runEngine = async (
  { videoEngine, metrics }: LocalDependencies,
  { kind }: ClaimedVideoTask,
  job: VideoJob,
  attempt: VideoAttempt,
): Promise<RenderedVideo> => {
  const onProgress = (percent: number): void => {
    if (percent > 0) failpoint('render.in-child')
    attempt.report('rendering', percent)
  }
  try {
    return await timeRender(metrics, kind, {
      render: () => videoEngine.render(job, { signal: attempt.signal, onProgress }),
      pixelsOf: ({ frames, width, height }) => frames * width * height,
    })
  } catch (error) {
    if (error instanceof TaskError || error instanceof VideoError) throw error
    throw new EngineError(describeCauses(error), { cause: error })
  }
}

/** Lists the files of the n-th video, from 0. */
const listFiles = (
  { video, cover, watermarked, creation: { width, height } }: RenderedVideoFiles,
  index: number,
) => {
  const [size, names] = [{ width, height }, videoFiles(index + 1)]
  return [
    { name: names.video, file: video, contentType: 'video/mp4', ...size },
    { name: names.cover, file: cover, contentType: 'image/jpeg', ...size },
    ...(watermarked === undefined
      ? []
      : [{ name: names.watermarked, file: watermarked, contentType: 'video/mp4', ...size }]),
  ]
}
