import { spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findVideoBinaries } from '../src/adapters/video-engine/binaries.ts'
import { makeLocalVideoEngine } from '../src/adapters/video-engine/local.ts'
import { planRender } from '../src/adapters/video-engine/plan.ts'
import type { VideoEngine, VideoJob } from '../src/adapters/video-engine/video-engine.ts'
import { say, showFigure, showSpread, spread } from './support/figures.ts'
import { ROOT } from '../src/local/root.ts'

const ROUNDS = 5
const AIM = 1.15
const MAX_PIXELS = 100_000_000
const SECONDS = 5

const START = join(ROOT, 'samples/still-life.png')

/** A drawn scene with sound, which has most layers; and a start image, which has one. */
const CASES: { name: string; part: Partial<VideoJob> }[] = [
  { name: '720p', part: { width: 1280, height: 720 } },
  { name: '1080p', part: { width: 1920, height: 1080 } },
  { name: '720p-image', part: { width: 1280, height: 720, startImage: { path: START } } },
  { name: '1080p-image', part: { width: 1920, height: 1080, startImage: { path: START } } },
]

/**
 * Wall time of a rendering from the job to the checked files, against the same ffmpeg command by itself, its inputs
 * decoded and drawn beforehand. Videos of 5 s with sound.
 */
export const run = async (): Promise<void> => {
  const dir = await mkdtemp(join(tmpdir(), 'kiln-bench-video-engine-'))
  const binaries = await findVideoBinaries({
    ffmpegPath: process.env.FFMPEG_PATH,
    ffprobePath: process.env.FFPROBE_PATH,
    searchPath: process.env.PATH ?? '',
    production: false,
  })
  say(`ffmpeg: ${binaries.ffmpeg.path} (${binaries.ffmpeg.origin})`)
  const engine = makeLocalVideoEngine({ binaries, maxPixels: MAX_PIXELS })
  try {
    for (const { name, part } of CASES) {
      const job = await makeJob(join(dir, name), part)
      const bare = await makeBare(binaries.ffmpeg.path, job)
      report(name, job, await measure(engine, job, bare))
    }
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}

const makeJob = async (scratchDir: string, part: Partial<VideoJob>): Promise<VideoJob> => {
  await mkdir(scratchDir)
  return {
    taskId: 'bench',
    width: 1280,
    height: 720,
    seconds: SECONDS,
    seed: 1,
    prompt: 'sunset over the mountains',
    movement: 'auto',
    style: 'general',
    audio: 'all',
    bgm: false,
    scratchDir,
    deadlineMs: 600_000,
    ...part,
  }
}

/** The command as from a shell: nobody reads its progress. */
const makeBare = async (ffmpeg: string, job: VideoJob): Promise<() => void> => {
  const cwd = join(job.scratchDir, 'bare')
  await mkdir(cwd)
  const { args } = await planRender(job, { dir: cwd, maxPixels: MAX_PIXELS })
  return () => {
    const { status, stderr } = spawnSync(ffmpeg, ['-y', ...args], {
      cwd,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    if (status !== 0) throw new Error(`ffmpeg failed: ${stderr.toString()}`)
  }
}

interface Times {
  engine: number[]
  bare: number[]
}

/** Alternates both ways, after a round that warms either up. */
const measure = async (engine: VideoEngine, job: VideoJob, bare: () => void): Promise<Times> => {
  const control = { signal: new AbortController().signal, onProgress: () => {} }
  const ways = { engine: () => engine.render(job, control), bare }
  const times: Times = { engine: [], bare: [] }
  for (let round = -1; round < ROUNDS; round++)
    for (const way of round % 2 === 0
      ? (['engine', 'bare'] as const)
      : (['bare', 'engine'] as const)) {
      const seconds = await time(ways[way])
      if (round >= 0) times[way].push(seconds)
    }
  return times
}

const time = async (work: () => unknown): Promise<number> => {
  const start = performance.now()
  await work()
  return (performance.now() - start) / 1000
}

const report = (name: string, job: VideoJob, { engine, bare }: Times): void => {
  showSpread(`${name}, engine`, engine, 's')
  showSpread(`${name}, bare`, bare, 's')
  const megapixelSeconds = ((job.width * job.height) / 1e6) * job.seconds
  say(
    `${name}: ${(spread(engine).median / megapixelSeconds).toFixed(3)} s for each megapixel-second`,
  )
  // Rounds in pairs: what else the machine does then weighs on both sides.
  const ratios = engine.map((seconds, round) => seconds / (bare[round] ?? Number.NaN))
  showFigure(`video-engine.${name}`, spread(ratios).median, { unit: 'x', aim: AIM, atMost: true })
}
