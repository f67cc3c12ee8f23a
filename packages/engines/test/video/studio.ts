import { spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findVideoBinaries } from '../../src/binaries.ts'
import { makeVideoEngine } from '../../src/video-engine.ts'
import type { RenderedVideo, VideoJob } from '../../src/video-job.ts'
import sharp from 'sharp'
import { PATIENCE_MS } from '../../../../test/support/patience.ts'
import { use } from '../../../../test/support/use.ts'

/** A folder, the engine, and what looks into its files. */
export type Studio = Awaited<ReturnType<typeof openStudio>>

interface ProbedFile {
  streams: Record<string, string | number | undefined>[]
  format: { duration: string; tags: Record<string, string> }
}

/** Opens a studio before the first test of a suite, and closes it after the last. */
export const useStudio = (): Studio => use(openStudio, ({ close }) => close())

/** Control of a rendering that nobody watches and nobody stops. */
export const quiet = () => ({ signal: new AbortController().signal, onProgress: () => {} })

/** A picture of one colour. */
export const paint = (width: number, height: number, background: string) =>
  sharp({ create: { width, height, channels: 3, background } })

/** Finds the programs as a worker does that is not in production. */
export const findBinaries = () =>
  findVideoBinaries({
    ffmpegPath: process.env.FFMPEG_PATH,
    searchPath: process.env.PATH ?? '',
    production: false,
  })

const openStudio = async () => {
  const dir = await mkdtemp(join(tmpdir(), 'kiln-video-engine-'))
  const binaries = await findBinaries()
  const engine = makeVideoEngine({ binaries, maxPixels: 1_000_000 })
  const run = (program: string, args: string[]): Buffer => {
    const { stdout, stderr, status } = spawnSync(program, args, { maxBuffer: 1 << 30 })
    if (status !== 0) throw new Error(`${program} failed: ${stderr.toString()}`)
    return stdout
  }
  /** Runs ffmpeg; its path and quiet options come first. */
  const ffmpeg = (...args: string[]) =>
    run(binaries.ffmpeg.path, ['-hide_banner', '-loglevel', 'error', '-nostdin', '-y', ...args])
  /** A job of one second at 320×180, in a folder of its own. */
  const makeJob = async (part: Partial<VideoJob> = {}): Promise<VideoJob> => ({
    ...PLAIN,
    scratchDir: await mkdtemp(join(dir, 'job-')),
    ...part,
  })
  const probe = (path: string): ProbedFile => {
    const args = '-v error -of json -show_streams -show_format'.split(' ')
    return JSON.parse(run(binaries.ffprobe.path, [...args, path]).toString()) as ProbedFile
  }
  /** All frames as RGB, or the first of them. */
  const decode = (path: string, frames = 10_000): Buffer[] => {
    const [video] = probe(path).streams
    const limit = ['-frames:v', String(frames), '-f', 'rawvideo', '-pix_fmt', 'rgb24', 'pipe:1']
    const scale = ['-vf', 'scale=in_color_matrix=bt709:flags=accurate_rnd+full_chroma_int']
    const pixels = ffmpeg('-i', path, '-an', ...scale, ...limit)
    const size = Number(video?.width) * Number(video?.height) * 3
    return Array.from({ length: Math.floor(pixels.length / size) }, (_, i) =>
      pixels.subarray(i * size, (i + 1) * size),
    )
  }
  return {
    dir,
    binaries,
    engine,
    makeJob,
    ffmpeg,
    probe,
    render: async (part?: Partial<VideoJob>): Promise<RenderedVideo> =>
      engine.render(await makeJob(part), quiet()),
    /** Writes a PNG of one colour, 320×180 or of another size; returns its path. */
    paint: async (background: string, width = 320, height = 180): Promise<string> => {
      const path = join(dir, `${background.slice(1)}-${width}-${height}.png`)
      await paint(width, height, background).png().toFile(path)
      return path
    },
    /** The first frame of a video. */
    first: (path = ''): Buffer => decode(path, 1)[0] ?? Buffer.of(),
    decode,

    /** Samples of the left channel, 48,000 a second. */
    listen: (path: string): Float32Array => {
      const pcm = ffmpeg('-i', path, ...'-map 0:a -f s16le -ar 48000 -ac 2 pipe:1'.split(' '))
      const { length } = pcm
      return Float32Array.from({ length: length / 4 }, (_, i) => pcm.readInt16LE(i * 4) / 32_768)
    },
    close: () => rm(dir, { recursive: true, force: true }),
  }
}

/** A job of one second at 320×180. */
export const PLAIN: Omit<VideoJob, 'scratchDir'> = {
  width: 320,
  height: 180,
  seconds: 1,
  seed: 7,
  prompt: '',
  movement: 'auto',
  style: 'general',
  audio: 'none',
  bgm: false,
  deadlineMs: PATIENCE_MS,
}

/** Mean absolute difference of two frames, in levels. */
export const difference = (one: Buffer, other: Buffer): number =>
  one.reduce((sum, value, i) => sum + Math.abs(value - (other[i] ?? 0)), 0) / one.length

/** Mean of a channel. */
export const mean = (frame: Buffer, channel: 0 | 1 | 2): number => {
  let sum = 0
  for (let i = channel; i < frame.length; i += 3) sum += frame[i] ?? 0
  return sum / (frame.length / 3)
}

/** Entropy of the histogram of luma, in bits. */
export const entropy = (frame: Buffer): number => {
  const counts = new Map<number, number>()
  for (let i = 0; i + 2 < frame.length; i += 3) {
    const luma =
      0.2126 * (frame[i] ?? 0) + 0.7152 * (frame[i + 1] ?? 0) + 0.0722 * (frame[i + 2] ?? 0)
    const level = Math.round(luma)
    counts.set(level, (counts.get(level) ?? 0) + 1)
  }
  const shares = [...counts.values()].map((count) => count / (frame.length / 3))
  return -shares.reduce((sum, share) => sum + share * Math.log2(share), 0)
}

/** Mean power about some frequencies: Goertzel's sums over blocks of a twentieth of a second. */
export const power = (samples: Float32Array, hertz: number[]): number => {
  const block = 2400
  let sum = 0
  for (let from = 0; from + block <= samples.length; from += block)
    for (const one of hertz) sum += goertzel(samples.subarray(from, from + block), one)
  return sum / (hertz.length * Math.floor(samples.length / block))
}

const goertzel = (samples: Float32Array, hertz: number): number => {
  const factor = 2 * Math.cos((2 * Math.PI * hertz) / 48_000)
  let [one, two] = [0, 0]
  for (const sample of samples) [one, two] = [sample + factor * one - two, one]
  return (one * one + two * two - factor * one * two) / samples.length ** 2
}

/** Root mean square. */
export const level = (samples: Float32Array): number =>
  Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / Math.max(1, samples.length))
