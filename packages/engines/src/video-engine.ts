import { chown, lstat, mkdtemp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import sharp from 'sharp'
import type { ChildUser, VideoBinaries } from './binaries.ts'
import { checkOutput, writeCover } from './video/output-file.ts'
import { runChild } from './video/child.ts'
import { FPS } from './video/film.ts'
import { copyWithComment } from './video/mp4-comment.ts'
import { planRender, type RenderPlan } from './video/plan.ts'
import type { ProbeOrder } from './video/probe.ts'
import { probeSource } from './video/source.ts'
import type {
  ProbeControl,
  ProbedSource,
  RenderControl,
  RenderedVideo,
  SourceFile,
  VideoJob,
} from './video-job.ts'

export interface VideoEngineOptions {
  binaries: VideoBinaries
  /** Largest picture taken in, in pixels. */
  maxPixels: number
}

export interface VideoEngine {
  /**
   * Renders a job into its scratch folder. Rejects with an `InputError` when no retry can help, with a plain error
   * otherwise. Messages hold no paths.
   */
  render(job: VideoJob, control: RenderControl): Promise<RenderedVideo>
  /**
   * Reads the facts of a video, so that the size of the result can be chosen.
   * @throws InputError `video_invalid` outside the limits of a source, `no_decoder` when no ffmpeg here may read it
   */
  probeSource(source: SourceFile, control: ProbeControl): Promise<ProbedSource>
}

/**
 * Moves pictures and draws scenes with sharp and ffmpeg. It is not generative: it understands only a few words of a
 * prompt and invents nothing. ffmpeg runs as a child of its own for each job, with one thread.
 */
export const makeVideoEngine = (options: VideoEngineOptions): VideoEngine => {
  // Settings of the process: jobs run beside each other, one for every core.
  sharp.cache(false)
  sharp.concurrency(1)
  return {
    render: (job, control) => renderWithin(job, control, options),
    probeSource: (source, { signal, scratchDir }) =>
      inFolder(scratchDir, options.binaries.user, (dir) =>
        probeSource(source, { binaries: options.binaries, dir, signal }),
      ),
  }
}

/** Bounds a rendering by its deadline. */
const renderWithin = async (
  job: VideoJob,
  control: RenderControl,
  options: VideoEngineOptions,
): Promise<RenderedVideo> => {
  control.signal.throwIfAborted()
  const late = new AbortController()
  const timer = setTimeout(
    () => late.abort(new Error('the video was not rendered within its deadline')),
    job.deadlineMs,
  )
  const signal = AbortSignal.any([control.signal, late.signal])
  try {
    return await inFolder(job.scratchDir, options.binaries.user, (dir) =>
      render(job, { binaries: options.binaries, dir, signal }, { ...options, ...control }),
    )
  } finally {
    clearTimeout(timer)
  }
}

/** A folder for a run alone: what ffmpeg reads and writes, until a finished file is moved out. */
export const inFolder = async <Result>(
  scratchDir: string,
  user: ChildUser | undefined,
  work: (dir: string) => Promise<Result>,
): Promise<Result> => {
  const dir = await mkdtemp(join(scratchDir, 'run-'))
  try {
    if (user) await chown(dir, user.uid, user.gid)
    return await work(dir)
  } finally {
    await rm(dir, { recursive: true, force: true, maxRetries: 3 })
  }
}

const render = async (
  job: VideoJob,
  order: ProbeOrder,
  { maxPixels, onProgress }: { maxPixels: number; onProgress: (percent: number) => void },
): Promise<RenderedVideo> => {
  const source = job.source && (await probeSource(job.source, order))
  const plan = await planRender(job, { dir: order.dir, maxPixels, ...(source && { source }) })
  await runPlan(plan, order, onProgress)
  await inspect(job, plan, order)
  const rendered = await collect(job, plan, order)
  onProgress(100)
  return rendered
}

/** Runs ffmpeg; progress is 1 as soon as it runs, and 99 at most until all is checked. */
const runPlan = async (
  plan: RenderPlan,
  { binaries, dir, signal }: ProbeOrder,
  onProgress: (percent: number) => void,
): Promise<void> => {
  let reported = 0
  const reportProgress = (percent: number): void => {
    if (percent <= reported) return
    reported = percent
    onProgress(percent)
  }
  await runChild({
    program: binaries.ffmpeg.path,
    args: plan.args,
    dir,
    signal,
    binaries,
    onStart: () => reportProgress(1),
    onLine: (line) => {
      const [name, value] = line.split('=')
      if (name === 'frame')
        reportProgress(Math.min(99, Math.floor((Number(value) * 100) / plan.frames)))
    },
  })
}

/** All at once, because each of these programs takes longer to load than to work. */
const inspect = async (job: VideoJob, plan: RenderPlan, order: ProbeOrder): Promise<void> => {
  const results = await Promise.allSettled([
    ...plan.outputs.map((name) => checkOutput(name, plan, order)),
    writeCover('clean.mp4', join(job.scratchDir, COVER), plan, order),
  ])
  // Throws only now: nothing may run on in a folder that is about to go.
  const failed = results.find((result) => result.status === 'rejected')
  if (failed) throw failed.reason
}

const COVER = 'cover.jpg'

const collect = async (
  job: VideoJob,
  { width, height, frames, hasAudio }: RenderPlan,
  { dir }: ProbeOrder,
): Promise<RenderedVideo> => {
  const [video, watermarked] = [
    join(job.scratchDir, 'video.mp4'),
    join(job.scratchDir, 'watermarked.mp4'),
  ]
  await moveOut(join(dir, 'clean.mp4'), video, job.metaData)
  const cover = join(job.scratchDir, COVER)
  const facts = { video, cover, width, height, fps: FPS, frames, hasAudio } as const
  if (job.watermark === undefined) return facts
  await moveOut(join(dir, 'marked.mp4'), watermarked, job.metaData)
  return { ...facts, watermarked }
}

/** Moves a finished file out of the folder of its run, with a `comment` where there is one. */
export const moveOut = async (
  from: string,
  to: string,
  comment: string | undefined,
): Promise<void> => {
  // A child of another user must not have this process read for it through a link, or keep what becomes a result.
  if (!(await lstat(from)).isFile()) throw new Error('the video is no plain file')
  if (process.getuid && process.getgid) await chown(from, process.getuid(), process.getgid())
  await (comment === undefined ? rename(from, to) : copyWithComment(from, to, comment))
}
