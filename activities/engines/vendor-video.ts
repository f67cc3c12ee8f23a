import { join } from 'node:path'

import type { Static } from 'typebox'
import { Value } from 'typebox/value'

import { probeImage } from '../../src/tasks/adapters/image-probe.ts'
import { requireDecodable } from '../../src/engines/adapters/thumbnail.ts'
import { makeBody } from '../../src/engines/upstream/body.ts'
import type { StreamedBody } from '../../src/engines/upstream/body.ts'
import { isWholeMp4 } from '../../src/engines/upstream/mp4.ts'
import type { FindUpstream, Upstream } from '../../src/engines/upstream/upstream.ts'
import { readContainer } from '../../packages/engines/src/container.ts'
import type { ClaimedVideoTask } from '../../src/tasks/db/video/video-task.ts'
import { TaskError } from '../../src/tasks/domain/task-error.ts'
import { readStatusWord, UpstreamVideo } from '../../src/tasks/domain/upstream-record.ts'
import { END_IMAGE } from '../../src/tasks/domain/video/end-image.ts'
import { isVideoErrorCode, VideoError } from '../../src/tasks/domain/video/video-error.ts'
import type { VideoErrorCode } from '../../src/tasks/domain/video/video-error.ts'
import { VIDEO_PREFIX } from '../../src/tasks/domain/video/video-path.ts'
import { failpoint } from '../../src/platform/process/failpoint.ts'
import type { VendorDependencies } from './dependencies.ts'
import { signInputs } from './fetch-inputs.ts'
import { EngineError } from './render-attempt.ts'
import { fetchVideoInputs } from './render-video-task.ts'
import type { RenderedVideoFiles, MakeVideo, VideoAttempt } from './render-video-task.ts'
import { giveReason, runUpstreamTask } from './upstream-task.ts'
import type { UpstreamJob } from './upstream-task.ts'

type Creation = NonNullable<Static<typeof UpstreamVideo>['creations']>[number]

/** Above the largest picture of any video here. */
const COVER_PIXELS = 100_000_000

/** The vendor engine: an upstream renders, and what it made is fetched. */
export const makeVendorVideo =
  (deps: VendorDependencies, findUpstream: FindUpstream): MakeVideo =>
  async (task, attempt) => {
    const upstream = findUpstream(task.kind)
    return await runUpstreamTask<Creation, RenderedVideoFiles[]>({
      deps,
      upstream,
      scope: 'engine:vendor:video',
      task,
      attempt,
      job: makeJob(deps, upstream, task, attempt),
      copy: async (creation, dir) => [
        await copyVideo(upstream, creation, { dir, signal: attempt.signal }),
      ],
    })
  }

const makeJob = (
  deps: VendorDependencies,
  upstream: Upstream,
  task: ClaimedVideoTask,
  attempt: VideoAttempt,
): UpstreamJob<Creation> => ({
  submission: () => makeSubmission(deps, task, attempt),
  idOf: ({ task_id: id }) => (typeof id === 'string' && id !== '' ? id : undefined),
  statusPath: (id) => `${VIDEO_PREFIX}/tasks/${encodeURIComponent(id)}/creations`,
  cancelPath: (id) => `${VIDEO_PREFIX}/tasks/${encodeURIComponent(id)}/cancel`,
  read: (body) => {
    if (!Value.Check(UpstreamVideo, body)) return undefined
    const { state, err_code: code = '', err_msg: message = '', progress = 0, creations } = body
    const end = readStatusWord(state)
    if (end === 'failed') {
      deps.log.warn({ task_id: task.id, code }, 'the upstream failed a task')
      const reason = giveReason(
        upstream,
        [`state ${state}`, code, message].filter(Boolean).join(': '),
      )
      throw (
        keepCode(code, upstream.clean(message), reason) ??
        new TaskError('upstream_failed', undefined, reason)
      )
    }
    const done = end === 'done' ? creations?.[0] : undefined
    return end === 'done' && !done ? undefined : { percent: progress, ...(done && { done }) }
  },
  toError: (error, { details }) => {
    const [word] = Array.isArray(details) ? (details as unknown[]) : []
    return keepCode(word, error.message, { cause: error.cause }) ?? error
  },
})

/** The error of a word that is a code of ours; nobody here has cancelled what was cancelled there. */
const keepCode = (word: unknown, message: string, options: ErrorOptions): VideoError | undefined =>
  isVideoErrorCode(word) && word !== ('UserCancelled' satisfies VideoErrorCode)
    ? new VideoError(word, message || undefined, options)
    : undefined

/**
 * The request as it is sent on: images by their bytes, a watermark and a source by links of this service. Links are those
 * of the first claim, so that each submission has the same bytes.
 */
const makeSubmission = async (
  deps: VendorDependencies,
  task: ClaimedVideoTask,
  attempt: VideoAttempt,
): Promise<{ path: string; body: StreamedBody }> => {
  const inputs = await fetchVideoInputs(deps, task, attempt, inspectSource)
  const links = await signInputs(deps, task)
  const images = [inputs['images'], inputs[END_IMAGE]].filter((image) => image !== undefined)
  const source = links['video_creation_id'] ?? links['video_url']
  const values = {
    ...task.settings,
    wm_url: links['wm_url'],
    ...(source !== undefined && { video_creation_id: task.id, video_url: source }),
  }
  const path = inputs[END_IMAGE] ? 'start-end2video' : task.kind
  const body = await makeBody(values, images.length > 0 ? { images } : {})
  return { path: `${VIDEO_PREFIX}/${path}`, body }
}

/** Finds the container of a source. The upstream validates size and length, because it has an ffmpeg for it. */
const inspectSource = async (_field: string, path: string) => {
  const container = await readContainer(path)
  if (container === undefined)
    throw new VideoError(
      'VideoFormatInvalid',
      'The source video is not MP4, MOV, Matroska or WebM.',
    )
  return { extension: container === 'mov' ? 'mp4' : 'mkv', width: 0, height: 0 }
}

const copyVideo = async (
  upstream: Upstream,
  { url, cover_url: coverUrl, watermarked_url: markedUrl, video: facts }: Creation,
  { dir, signal }: { dir: string; signal: AbortSignal },
): Promise<RenderedVideoFiles> => {
  const fetch = async (url: string, name: string, check: (path: string) => Promise<void>) => {
    const path = join(dir, name)
    await upstream.fetch({ url, toFile: path, signal })
    await check(path).catch((cause: unknown) => {
      // It may have been cut on its way here, so it is worth another attempt.
      throw new EngineError(`the upstream’s ${name} is broken`, {
        cause,
        isShown: upstream.showsErrors,
      })
    })
    failpoint('upstream.while-copying')
    return path
  }
  const video = await fetch(url, 'video.mp4', requireMp4)
  const cover = await fetch(coverUrl, 'cover.jpg', requireJpeg)
  const watermarked = markedUrl && (await fetch(markedUrl, 'watermarked.mp4', requireMp4))
  const { duration: seconds, fps, resolution } = facts
  const creation = { seconds, fps: Math.max(1, Math.round(fps)), ...resolution }
  return { video, cover, ...(watermarked && { watermarked }), creation }
}

const requireMp4 = async (path: string): Promise<void> => {
  if (!(await isWholeMp4(path))) throw new Error('no whole MP4')
}

const requireJpeg = async (path: string): Promise<void> => {
  const { format } = await probeImage(path, { maxPixels: COVER_PIXELS })
  if (format !== 'jpeg') throw new Error(`a ${format}`)
  await requireDecodable(path)
}
