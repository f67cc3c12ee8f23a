import type { Size } from '../size.ts'
import { InputError } from '../input-error.ts'
import { ChildError, runChild } from './child.ts'
import { readContainer } from '../container.ts'
import { CALLERS, CONFINED, COUNTED } from './options.ts'
import { probeFile, type ProbeOrder, type StreamFacts } from './probe.ts'
import type { ProbedSource, SourceFile } from '../video-job.ts'

const LEAST_SECONDS = 4
const MAX_SECONDS = 60
/** Half a frame at 24 a second: what a container's rounding may cost. */
const TOLERANCE = 0.02
const LEAST_SIDE = 16
const MAX_SIDE = 4096

/**
 * Validates a caller's video: MP4, MOV, Matroska or WebM by its first bytes, 4 to 60 s, a stream that decodes, sides of
 * 16 to 4096 pixels. One that was made here may be of any length.
 * @throws InputError `video_invalid` for anything else, `no_decoder` when no ffmpeg here may read it; the
 * signal's reason once aborted
 */
export const probeSource = async (
  { path, isOwn = false, leastSeconds = LEAST_SECONDS }: SourceFile,
  order: ProbeOrder,
): Promise<ProbedSource> => {
  if (!isOwn && !order.binaries.readsCallerVideo) throw new InputError('no_decoder')
  const container = await readContainer(path)
  if (container === undefined) throw rejected('The source video is not MP4, MOV, Matroska or WebM.')
  const file = { path, container }
  try {
    const { streams, start } = await probeFile(file, order)
    const video = findVideo(streams)
    requireSize(sizeOf(video))
    if (video.packets === 0) throw rejected('The source video has no pictures.')
    // As ffmpeg does, which moves the start of the file, early or late, to zero.
    const seconds = video.end - start
    if (!isOwn) requireLength(seconds, leastSeconds)
    const stream = Number(video.values.get('index'))
    await decodeOne({ ...file, stream }, order)
    const hasAudio = streams.some(({ values }) => values.get('codec_type') === 'audio')
    return { container, stream, ...shownSize(video), seconds, hasAudio }
  } catch (cause) {
    // A program that was killed says nothing about the video.
    if (!(cause instanceof ChildError) || cause.exitCode === undefined) throw cause
    throw new InputError('video_invalid', 'The source video cannot be decoded.', { cause })
  }
}

const rejected = (message: string): InputError => new InputError('video_invalid', message)

const findVideo = (streams: StreamFacts[]): StreamFacts => {
  // A cover is a stream of one picture.
  const video = streams.find(
    ({ values }) =>
      values.get('codec_type') === 'video' && values.get('disposition:attached_pic') !== '1',
  )
  if (video === undefined) throw rejected('The source video has no video stream.')
  return video
}

const sizeOf = ({ values }: StreamFacts): Size => ({
  width: Number(values.get('width')) || 0,
  height: Number(values.get('height')) || 0,
})

const requireSize = ({ width, height }: Size): void => {
  const sides = [width, height]
  if (sides.every((side) => side >= LEAST_SIDE && side <= MAX_SIDE)) return
  throw rejected(
    `The sides of the source video must have ${LEAST_SIDE} to ${MAX_SIDE} pixels, got ${width}×${height}.`,
  )
}

const requireLength = (seconds: number, least: number): void => {
  if (seconds >= least - TOLERANCE && seconds <= MAX_SECONDS + TOLERANCE) return
  throw rejected(
    `The source video must be ${least} to ${MAX_SECONDS} s long, got ${seconds.toFixed(2)} s.`,
  )
}

/** Pixels that are not square widen the picture; a turn by a quarter swaps its sides. */
const shownSize = (video: StreamFacts): Size => {
  const { width, height } = sizeOf(video)
  const shape = video.values.get('sample_aspect_ratio') ?? ''
  const [across = 0, down = 0] = shape.split(':').map(Number)
  const square = across > 0 && down > 0 ? across / down : 1
  const shown = { width: Math.max(1, Math.round(width * square)), height }
  const turn = Number(video.values.get('rotation') ?? 0)
  return Math.abs(turn) % 180 === 90 ? { width: shown.height, height: shown.width } : shown
}

const decodeOne = async (
  { path, container, stream }: { path: string; container: string; stream: number },
  { binaries, dir, signal }: ProbeOrder,
): Promise<void> => {
  let frames = 0
  await runChild({
    program: binaries.ffmpeg.path,
    args: [
      ...COUNTED,
      ...CONFINED,
      ...CALLERS,
      '-f',
      container,
      '-i',
      `file:${path}`,
      ...`-map 0:${stream} -frames:v 1 -f null pipe:2`.split(' '),
    ],
    dir,
    signal,
    binaries,
    onLine: (line) => {
      if (line.startsWith('frame=')) frames = Number(line.slice(6))
    },
  })
  if (frames < 1) throw rejected('The source video has no stream that can be decoded.')
}
