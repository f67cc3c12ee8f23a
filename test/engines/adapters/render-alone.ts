/** Renders a long video until it is killed: argument 1 is a folder for it; with "bare" as argument 2 without setpriv. */
import { makeLocalVideoEngine } from '../../../src/engines/video-engine/local.ts'
import { PLAIN, findBinaries, quiet } from '../../../packages/engines/test/video/studio.ts'

const [scratchDir = '', how] = process.argv.slice(2)
const found = await findBinaries()
const binaries = how === 'bare' ? { ...found, setpriv: undefined } : found
const long = {
  ...PLAIN,
  taskId: 'task',
  width: 1920,
  height: 1080,
  seconds: 16,
  deadlineMs: 600_000,
  scratchDir,
}
const onProgress = (percent: number) => process.stdout.write(`${percent}\n`)
await makeLocalVideoEngine({ binaries, maxPixels: 1e6 }).render(long, { ...quiet(), onProgress })
