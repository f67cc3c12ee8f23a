import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { ROOT } from '../src/local/root.ts'
import { UPSCALE } from '../test/support/client.ts'
import { listSaved, makeBareClient } from '../test/support/comfyui/bare-client.ts'
import { startFakeComfy } from '../test/support/comfyui/fake.ts'
import type { Graph } from '../test/support/comfyui/validate.ts'
import { withServers } from '../test/support/keep.ts'
import { base64, makePicture } from '../test/support/pictures.ts'
import { startService } from '../test/support/service.ts'
import { inTurns, latencyOf } from './support/lanes.ts'
import { readProcessors } from './support/processor.ts'
import { median, showResult, showSpread } from './support/results.ts'
import { DEFAULTS } from './support/settings.ts'
import { startTaskClient } from './support/task-client.ts'

const ROUNDS = Number(process.env['ROUNDS'] ?? 5)
const SINGLES = 20
const TEMPLATES = join(ROOT, 'deploy/comfyui/templates')
/** As Kiln has it while a prompt is young. */
const POLL_MS = 100

/**
 * Latency that Kiln adds to a render of 0.2 s on ComfyUI, from POST to COMPLETED, in turns with a client that uploads, polls as
 * often and fetches the result; one task at a time. Also the processor that its processes take for one.
 */
export const run = async (): Promise<void> =>
  await withServers(async (keep) => {
    const { url, close } = await startFakeComfy({ nodeMs: 200 / 5 })
    keep({ stop: close })
    const fleet = { COMFYUI_URLS: `gpu1=${url}`, COMFYUI_TEMPLATES: TEMPLATES }
    const env = { ...DEFAULTS, ENGINES: 'upscale:comfyui', ...fleet }
    const service = keep(await startService({ roles: ['api', 'core'], env }))
    const kiln = keep(await startTaskClient(service))
    const order = { path: UPSCALE, body: { image: await base64() }, end: 'COMPLETED' } as const
    const bare = await makeBare(url)
    const pids = [service.entry('api').pid, service.entry('core').pid]
    const spent: number[] = []
    const runKiln = async () => {
      const before = readProcessors(pids)
      const latency = await latencyOf(SINGLES, () => kiln.run(order))
      spent.push((readProcessors(pids) - before) / SINGLES)
      return latency
    }
    const ways = { bare: () => latencyOf(SINGLES, bare), kiln: runKiln }
    const { kiln: ours, bare: base } = await inTurns(ROUNDS, ways, 1)
    showSpread('bare client, p50', base, 'ms')
    showSpread('POST to COMPLETED, p50', ours, 'ms')
    showSpread('processor of api and core, each', spent.slice(1), 'ms')
    const added = ours.map((value, round) => value - (base[round] ?? Number.NaN))
    showResult('engine-overhead.added', median(added), { unit: 'ms', atMost: 150 })
  })

/** Makes the same work without Kiln. Names of its own keep the cache out of it. */
const makeBare = async (url: string): Promise<() => Promise<void>> => {
  const client = makeBareClient(url)
  const graph = JSON.parse(await readFile(join(TEMPLATES, 'upscale.json'), 'utf8')) as Graph
  const bytes = await makePicture()
  return async () => {
    const id = randomUUID()
    await client.upload({ name: 'image.png', bytes, subfolder: id })
    const prompt = structuredClone(graph)
    Object.assign(prompt['1']?.inputs ?? {}, { image: `${id}/image.png` })
    Object.assign(prompt['9']?.inputs ?? {}, { filename_prefix: `${id}/r` })
    await client.post('/prompt', { prompt, prompt_id: id })
    for (;;) {
      const { queue_running: running, queue_pending: pending } = await client.queue()
      const entry = running.length + pending.length === 0 && (await client.history(id))
      if (entry) return void (await Promise.all(listSaved(entry).map(client.view)))
      await sleep(POLL_MS)
    }
  }
}
