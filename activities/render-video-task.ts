import { probeImage } from '../src/adapters/image-probe.ts'
import type { RenderedVideo, VideoJob } from '../src/adapters/video-engine/video-engine.ts'
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
import type { MediaDependencies } from './dependencies.ts'
import { fetchInputs } from './fetch-inputs.ts'
import type { InputRule } from './fetch-inputs.ts'
import { storeResults } from './results.ts'
import { makeVideoJob } from './video-job.ts'
import type { RenderedVideoTask } from './video-task.ts'

/**
 * Makes the activity that renders a video task: claims it with a new fence, fetches its inputs, runs the engine and
 * stores what it made under the fence. Answers undefined when the task has already ended. Faults of the input end the
 * task at once; faults of engine and store are tried three times.
 */
export const makeRenderVideoTask =
  (deps: MediaDependencies) =>
  (taskId: string, timing: VideoTiming): Promise<RenderedVideoTask | undefined> =>
    runAttempt(deps, { taskId, timing, claim: claimVideoTask }, (task, attempt) =>
      render(deps, task, { ...attempt, timing }),
    )

interface VideoAttempt extends RenderAttempt {
  timing: VideoTiming
}

const render = async (
  deps: MediaDependencies,
  task: ClaimedVideoTask,
  attempt: VideoAttempt,
): Promise<RenderedVideoTask> => {
  const inputs = await fetchInputs(deps, {
    task,
    attempt,
    ruleOf: (field) => ruleOf(deps, field, attempt),
  })
  const job = makeVideoJob(task, inputs, {
    scratchDir: attempt.scratchDir,
    deadlineMs: Math.max(1, Math.round((attempt.timing.deadlineSeconds - task.age) * 1000)),
    tiny: deps.tinyVideos,
  })
  attempt.report('rendering', 0)
  const video = await runEngine(deps, task, job, attempt)
  attempt.report('storing', 100)
  const made = await storeResults(deps, task, {
    files: listFiles(video),
    picture: video.cover,
    scratchDir: attempt.scratchDir,
  })
  const { frames, fps, width, height } = video
  const creation = { seconds: frames / fps, fps, width, height }
  return { fence: task.fence, ...made, creation }
}

const POINTERS: Readonly<Record<string, string>> = {
  images: '/images/0',
  [END_IMAGE]: '/images/1',
}

/** What an input must be, and in which words its faults are told. */
const ruleOf = (deps: MediaDependencies, field: string, attempt: RenderAttempt): InputRule => {
  const { limits, videoEngine } = deps
  if (field === 'video_url' || field === 'video_creation_id')
    return {
      pointer: `/${field}`,
      limits: limits.video,
      toFault: (fault) => toVideoFault(fault, 'video'),
      inspect: async (path) => {
        const source = { path, isOwn: field === 'video_creation_id' }
        const { container, width, height } = await videoEngine.probeSource(source, attempt)
        return { extension: container === 'mov' ? 'mp4' : 'mkv', width, height }
      },
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
  deps: MediaDependencies,
  task: ClaimedVideoTask,
  job: VideoJob,
  attempt: RenderAttempt,
): Promise<RenderedVideo> => {
  const progress = makeProgressNote(deps, task)
  const onProgress = (percent: number): void => {
    if (percent > 0) failpoint('render.in-child')
    attempt.report('rendering', percent)
    progress.note(percent)
  }
  try {
    return await timeRender(deps.metrics, task.kind, {
      render: () => deps.videoEngine.render(job, { signal: attempt.signal, onProgress }),
      pixelsOf: ({ frames, width, height }) => frames * width * height,
    })
  } catch (error) {
    if (error instanceof TaskFault || error instanceof VideoFault) throw error
    throw new EngineError('rendering', { cause: error })
  } finally {
    // No part of an attempt runs on after its end.
    await progress.settle()
  }
}

/** Often enough for a bar that moves, seldom enough to cost nothing. */
const NOTE_MS = 1000

/** Writes progress to the row, at most once a second. It is only for show, so a failed write is ignored. */
const makeProgressNote = (
  { sql, log, news }: MediaDependencies,
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

const listFiles = ({ video, cover, watermarked, width, height }: RenderedVideo) => {
  const size = { width, height }
  return [
    { name: 'video.mp4', path: video, contentType: 'video/mp4', ...size },
    { name: 'cover.jpg', path: cover, contentType: 'image/jpeg', ...size },
    ...(watermarked === undefined
      ? []
      : [{ name: 'watermarked.mp4', path: watermarked, contentType: 'video/mp4', ...size }]),
  ]
}
