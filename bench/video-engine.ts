import { spawnSync, type StdioOptions } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { findVideoBinaries } from '../packages/engines/src/binaries.ts'
import { makeVideoEngine } from '../packages/engines/src/video-engine.ts'
import { planRender } from '../packages/engines/src/video/plan.ts'
import type { VideoJob } from '../packages/engines/src/video-job.ts'
import { median, say, showPaired, showSpread } from './support/results.ts'
import { makeFolder, withKept } from '../test/support/keep.ts'
import { inTurns, timeOf } from './support/lanes.ts'
import { ROOT } from '../src/local/root.ts'

const ROUNDS = Number(process.env['ROUNDS'] ?? 5)
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
export const run = async (): Promise<void> =>
  await withKept(async (keep) => {
    const dir = keep(await makeFolder()).path
    const binaries = await findVideoBinaries({
      ffmpegPath: process.env.FFMPEG_PATH,
      searchPath: process.env.PATH ?? '',
      production: false,
    })
    say(`ffmpeg: ${binaries.ffmpeg.path} (${binaries.ffmpeg.origin})`)
    const engine = makeVideoEngine({ binaries, maxPixels: MAX_PIXELS })
    const control = { signal: new AbortController().signal, onProgress: () => {} }
    for (const { name, part } of CASES) {
      const job = await makeJob(join(dir, name), part)
      const runBare = await makeBare(binaries.ffmpeg.path, job)
      const ways = {
        ours: async () => (await timeOf(() => engine.render(job, control))) / 1000,
        bare: async () => (await timeOf(runBare)) / 1000,
      }
      const { ours, bare } = await inTurns(ROUNDS, ways, 1)
      showSpread(`${name}, engine`, ours, 's')
      showSpread(`${name}, bare`, bare, 's')
      say(`${name}: ${(median(ours) / SECONDS).toFixed(3)} s for each second of video`)
      showPaired(`video-engine.${name}`, [ours, bare], { atMost: 1.15 })
    }
  })

const makeJob = async (scratchDir: string, part: Partial<VideoJob>): Promise<VideoJob> => {
  await mkdir(scratchDir)
  return {
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
    const stdio: StdioOptions = ['ignore', 'ignore', 'pipe']
    const { status, stderr } = spawnSync(ffmpeg, ['-y', ...args], { cwd, stdio })
    if (status !== 0) throw new Error(`ffmpeg failed: ${stderr.toString()}`)
  }
}
