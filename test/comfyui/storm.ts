import assert from 'node:assert/strict'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { secondsSince } from '../../src/local/console.ts'
import { ROOT } from '../../src/local/root.ts'
import { CREATE, HEARTBEAT, clientOf } from '../faults/calls.ts'
import { assertLedger } from '../faults/ledger.ts'
import { makeRandom } from '../faults/random.ts'
import { startFakeComfy } from '../support/comfyui/fake.ts'
import type { Graph } from '../support/comfyui/validate.ts'
import type { PromptFault } from '../support/comfyui/worker.ts'
import { withKept } from '../support/keep.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { base64 } from '../support/pictures.ts'
import { startService, type Service } from '../support/service.ts'
import { waitFor } from '../support/wait.ts'
import { disturb } from './disturb.ts'

interface Storm {
  minutes: number
  seed: number
  say(line: string): void
}

const INSTANCES = ['gpu1', 'gpu2', 'gpu3']
/** A task takes half a second of an instance, so that most disturbances meet one. */
const NODE_MS = 100
/** Tasks that are open at once: more than the instances take, so that some wait. */
const OPEN = 12
/** One of so many breaks whatever runs it: it enlarges eight times. */
const POISONOUS = 100
const poisonOf = (graph: Graph): PromptFault | undefined =>
  Object.values(graph).some(({ inputs }) => inputs['value'] === 8) ? 'device' : undefined
/** One of so many is cancelled by its caller. */
const CANCELLED = 25
/** Ends of tasks that may fail in a storm, by their messages. */
const MAY_FAIL =
  /engine_crashed|placed 10 times|too large for the machines|engine failed three times|not end within its deadline/

/**
 * Has tasks made for some minutes while workers and instances fail, waits until all have ended, and asserts that each has
 * one row, one end, one event of it, and the files of one result when it is completed.
 */
export const runStorm = async ({ minutes, seed, say }: Storm): Promise<void> =>
  await withKept(async (keep) => {
    const fakes = await Promise.all(INSTANCES.map(() => startFakeComfy({ nodeMs: NODE_MS })))
    for (const fake of fakes) {
      keep({ stop: () => fake.close() })
      fake.poison = poisonOf
    }
    const members = INSTANCES.map((name, index) => ({ name, fake: fakes[index] ?? assert.fail() }))
    const env = {
      ...HEARTBEAT,
      ENGINES: 'upscale:comfyui',
      COMFYUI_URLS: members.map(({ name, fake }) => `${name}=${fake.url}`).join(),
      COMFYUI_TEMPLATES: join(ROOT, 'deploy/comfyui/templates'),
      OVERRIDE_COMFYUI_LOST_SECONDS: '6',
      COMFYUI_STALL_SECONDS: '10',
    }
    const service = keep(await startService({ roles: ['api'], env }))
    const random = makeRandom(seed)
    const over = new AbortController()
    const start = Date.now()
    const storm = await disturb({ service, members, random, signal: over.signal })
    const client = await clientOf(service)
    const image = await base64()
    const ids: string[] = []
    const cancelled: string[] = []
    const until = Date.now() + minutes * 60_000
    const reports = setInterval(() => {
      say(`  ${secondsSince(start)}: ${ids.length} made, ${JSON.stringify(storm.counts)}`)
    }, 60_000)

    const call = async (): Promise<void> => {
      while (Date.now() < until) {
        const isPoisonous = random() * POISONOUS < 1
        const settings = isPoisonous ? { scale_factor: '8x' } : {}
        const { status, body } = await client.post(CREATE, { image, ...settings })
        assert.equal(status, 200, JSON.stringify(body))
        const id = body.data.task_id
        ids.push(id)
        if (random() * CANCELLED < 1) {
          cancelled.push(id)
          await sleep(random() * 2000)
          await client.post(`${CREATE}/${id}/cancel`, {})
        }
        await waitFor(`the end of ${id}`, () => hasEnded(service, id), 30 * PATIENCE_MS)
      }
    }
    try {
      await Promise.all(Array.from({ length: OPEN }, call))
    } finally {
      clearInterval(reports)
      over.abort()
      await storm.ended
    }
    const tasks = await assertLedger(service, ids)
    // What still hangs is ended by whoever started it; a killed worker's turn to clean up is another's a minute later.
    await Promise.all(fakes.map((fake) => fake.restart()))
    const isClean = async () =>
      (await service.database.sql`select from placement where cleaned_at is null`).length === 0
    await waitFor('nothing is left on the instances', isClean, 5 * PATIENCE_MS)
    await report(service, { tasks, cancelled, say })
    say(
      `seed ${seed}: ${tasks.length} tasks in ${secondsSince(start)}, 0 lost, 0 ended twice; ${JSON.stringify(storm.counts)}`,
    )
  })

const hasEnded = async ({ database: { sql } }: Service, id: string): Promise<boolean> =>
  (await sql`select from task where id = ${id} and ended_at is not null`).length > 0

type Ended = Awaited<ReturnType<typeof assertLedger>>

/** Counts ends and placements, and asserts that what failed had a reason to. */
const report = async (
  { database: { sql } }: Service,
  { tasks, cancelled, say }: { tasks: Ended; cancelled: string[]; say: Storm['say'] },
): Promise<void> => {
  const ends = await sql<{ end: string; count: number }[]>`
    select coalesce(error_code || ': ' || error_message, status) as end, count(*)::integer as count
    from task group by 1 order by 2 desc
  `
  for (const { end, count } of ends) say(`  ${count} tasks ${end}`)
  const placements = await sql<{ state: string; count: number }[]>`
    select state, count(*)::integer as count from placement group by 1 order by 2 desc
  `
  say(`  placements: ${placements.map(({ state, count }) => `${count} ${state}`).join(', ')}`)
  const several = await sql`
    select task_id from placement where state in ('open', 'done')
    group by 1 having count(*) > 1
  `
  assert.equal(several.length, 0, 'no task has results of two placements')
  const attempts = tasks.reduce((sum, { fence }) => sum + fence, 0)
  say(`  ${attempts} attempts, ${cancelled.length} cancellations`)
  for (const { end } of ends) if (!/^(COMPLETED|cancelled)/.test(end)) assert.match(end, MAY_FAIL)
}
