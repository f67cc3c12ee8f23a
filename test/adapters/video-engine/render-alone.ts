/** Renders a long video until it is killed: argument 1 is a folder for it; with "bare" as argument 2 without setpriv. */
import { findVideoBinaries } from '../../../src/adapters/video-engine/binaries.ts'
import { makeLocalVideoEngine } from '../../../src/adapters/video-engine/local.ts'

const [scratchDir = '', how] = process.argv.slice(2)
const found = await findVideoBinaries({
  ffmpegPath: process.env.FFMPEG_PATH,
  searchPath: process.env.PATH ?? '',
  production: false,
})
const binaries = how === 'bare' ? { ...found, setpriv: undefined } : found
await makeLocalVideoEngine({ binaries, maxPixels: 1e6 }).render(
  {
    taskId: 'task',
    width: 1920,
    height: 1080,
    seconds: 16,
    seed: 1,
    prompt: '',
    movement: 'auto',
    style: 'general',
    audio: 'none',
    bgm: false,
    scratchDir,
    deadlineMs: 600_000,
  },
  {
    signal: new AbortController().signal,
    onProgress: (percent) => process.stdout.write(`${percent}\n`),
  },
)
