import { probeImage } from '../src/adapters/image-probe.ts'
import type { RenderedVideo, VideoJob } from '../src/adapters/video-engine/video-engine.ts'
import type { NewCreation } from '../src/db/video-task/creation.ts'
import { claimVideoTask, noteProgress } from '../src/db/video-task/video-task.ts'
import type { ClaimedVideoTask } from '../src/db/video-task/video-task.ts'
import type { VideoTiming } from '../src/domain/task/render-timing.ts'
import { TaskFault } from '../src/domain/task/task-fault.ts'
import { END_IMAGE } from '../src/domain/video-task/end-image.ts'
import { toVideoFault, VideoFault } from '../src/domain/video-task/video-fault.ts'
import { failpoint } from '../src/process/failpoint.ts'
import { timeRender } from '../src/process/metrics.ts'
import { EngineError, runAttempt } from './render-attempt.ts'
import type { RenderAttempt } from './render-attempt.ts'
import type { MediaDependencies, RenderDependencies } from './dependencies.ts'
import { fetchInputs } from './fetch-inputs.ts'
import type { FetchedInput, InputRule } from './fetch-inputs.ts'
import { storeResults } from './results.ts'
import { makeVideoJob } from './video-job.ts'
import type { RenderedVideoTask } from './video-task.ts'

export interface VideoAttempt extends RenderAttempt {
  timing: VideoTiming
  /** Tells those who read the task how far it is. */
  note(percent: number): void
}

/** Finished files in the scratch folder of the attempt. */
export interface MadeVideo extends Pick<RenderedVideo, 'video' | 'cover' | 'watermarked'> {
  creation: NewCreation
}

/** What an engine does with a task. */
export type MakeVideo = (task: ClaimedVideoTask, attempt: VideoAttempt) => Promise<MadeVideo>

/**
 * Makes the activity that renders a video task: claims it with a new fence, has the engine make the video and stores it
 * under the fence. Answers undefined when the task has already ended. Faults of the input end the task at once; faults
 * of engine and store are tried three times.
 */
export const makeRenderVideoTask =
  (deps: RenderDependencies, make: MakeVideo) =>
  (taskId: string, timing: VideoTiming): Promise<RenderedVideoTask | undefined> =>
    runAttempt(deps, { taskId, timing, claim: claimVideoTask }, async (task, attempt) => {
      const progress = makeProgressNote(deps, task)
      const video = await make(task, { ...attempt, timing, note: progress.note })
        // No part of an attempt runs on after its end.
        .finally(progress.settle)
      attempt.report('storing', 100)
      const made = await storeResults(deps, task, {
        files: listFiles(video),
        picture: video.cover,
        scratchDir: attempt.scratchDir,
      })
      return { fence: task.fence, ...made, creation: video.creation }
    })

/** The local engine: fetches the inputs and renders them here. */
export const makeLocalVideo =
  (deps: MediaDependencies): MakeVideo =>
  async (task, attempt) => {
    const inputs = await fetchVideoInputs(deps, task, attempt, async (field, path) => {
      const source = { path, isOwn: field === 'video_creation_id' }
      const { container, width, height } = await deps.videoEngine.probeSource(source, attempt)
      return { extension: container === 'mov' ? 'mp4' : 'mkv', width, height }
    })
    const job = makeVideoJob(task, inputs, {
      scratchDir: attempt.scratchDir,
      deadlineMs: Math.max(1, Math.round((attempt.timing.deadlineSeconds - task.age) * 1000)),
      tiny: deps.tinyVideos,
    })
    attempt.report('rendering', 0)
    const { frames, fps, width, height, ...files } = await runEngine(deps, task, job, attempt)
    return { ...files, creation: { seconds: frames / fps, fps, width, height } }
  }

const POINTERS: Readonly<Record<string, string>> = {
  images: '/images/0',
  [END_IMAGE]: '/images/1',
}

/** Tells what the source of an extension is. */
type InspectSource = (field: string, path: string) => ReturnType<InputRule['inspect']>

/** Fetches the images, the watermark and the source of a task. */
export const fetchVideoInputs = (
  deps: RenderDependencies,
  task: ClaimedVideoTask,
  attempt: RenderAttempt,
  inspectSource: InspectSource,
): Promise<Record<string, FetchedInput>> =>
  fetchInputs(deps, { task, attempt, ruleOf: (field) => ruleOf(deps, field, inspectSource) })

/** What an input must be, and in which words its faults are told. */
const ruleOf = (
  { limits }: RenderDependencies,
  field: string,
  inspectSource: InspectSource,
): InputRule => {
  if (field === 'video_url' || field === 'video_creation_id')
    return {
      pointer: `/${field}`,
      limits: limits.video,
      toFault: (fault) => toVideoFault(fault, 'video'),
      inspect: (path) => inspectSource(field, path),
    }
  const pointer = POINTERS[field] ?? `/${field}`
  return {
    pointer,
    limits: field === 'wm_url' ? limits.watermark : limits.image,
    toFault: (fault) => toVideoFault(fault, 'image'),
    inspect: (path) => probeImage(path, limits),
  }
}

const runEngine = async (
  { videoEngine, metrics }: MediaDependencies,
  { kind }: ClaimedVideoTask,
  job: VideoJob,
  attempt: VideoAttempt,
): Promise<RenderedVideo> => {
  const onProgress = (percent: number): void => {
    if (percent > 0) failpoint('render.in-child')
    attempt.report('rendering', percent)
    attempt.note(percent)
  }
  try {
    return await timeRender(metrics, kind, {
      render: () => videoEngine.render(job, { signal: attempt.signal, onProgress }),
      pixelsOf: ({ frames, width, height }) => frames * width * height,
    })
  } catch (error) {
    if (error instanceof TaskFault || error instanceof VideoFault) throw error
    throw new EngineError('rendering', { cause: error })
  }
}

/** Often enough for a bar that moves, seldom enough to cost nothing. */
const NOTE_MS = 1000

/** Writes progress to the row, at most once a second. It is only for show, so a failed write is ignored. */
const makeProgressNote = (
  { sql, log, news }: RenderDependencies,
  { id, fence }: ClaimedVideoTask,
) => {
  let notedAt = 0
  let writing = Promise.resolve()
  const write = async (percent: number): Promise<void> => {
    try {
      if (await noteProgress(sql, { id, fence, percent })) news(id)
    } catch (error) {
      log.debug({ task_id: id, err: error }, 'progress was not noted')
    }
  }
  return {
    note(percent: number): void {
      if (percent === 0 || Date.now() - notedAt < NOTE_MS) return
      notedAt = Date.now()
      writing = write(percent)
    },
    settle: () => writing,
  }
}

const listFiles = ({ video, cover, watermarked, creation: { width, height } }: MadeVideo) => {
  const size = { width, height }
  return [
    { name: 'video.mp4', path: video, contentType: 'video/mp4', ...size },
    { name: 'cover.jpg', path: cover, contentType: 'image/jpeg', ...size },
    ...(watermarked === undefined
      ? []
      : [{ name: 'watermarked.mp4', path: watermarked, contentType: 'video/mp4', ...size }]),
  ]
}
