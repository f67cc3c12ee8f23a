import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

import type { PromptFault } from '../../support/comfyui/worker.ts'
import { makeRandom } from '../../faults/random.ts'
import { render, seePlacements, startFleet } from './comfyui-place.ts'
import { TIMING, makeEnvironment, see, stopRun, usePlace } from '../../tasks/activities/place.ts'

const place = usePlace()

const FAULTS: PromptFault[] = ['interrupted', 'forgotten', 'output-gone', 'cuda']
/** Long enough that most disturbances meet a prompt. */
const SLOW = { nodeMs: 150 }
const TASKS = 60
/** A deadline that no task meets: on a busy machine the storm lasts longer than that of the other tests. */
const UNHURRIED = { ...TIMING, deadlineSeconds: 3600 }
const SEED = Number(process.env['SEED'] ?? 1)

test('tasks of two workers end once each while three instances restart, freeze and fail', async (context) => {
  const random = makeRandom(SEED)
  const fleet = await startFleet(place, 'storm', [SLOW, SLOW, SLOW], {
    lostMs: 2000,
    silenceMs: 1000,
  })
  const workers = [fleet.deps, fleet.makeWorker()]
  context.after(async () => {
    await fleet.close()
    for (const { client, events } of workers.flatMap(({ fleet }) => fleet.instances)) {
      client.close()
      events.close()
    }
  })
  const ids = await Promise.all(Array.from({ length: TASKS }, () => fleet.insert()))
  const over = new AbortController()
  const failed: string[] = []

  /** As workflow and server do: another attempt after each that failed, or whose worker went away. */
  const renderToEnd = async (id: string): Promise<void> => {
    for (let attempt = 0; ; attempt += 1) {
      const environment = makeEnvironment()
      const timer =
        random() < 0.3 && attempt < 3 ? setTimeout(() => stopRun(environment), 300) : undefined
      try {
        const worker = workers[Math.floor(random() * 2)] ?? fleet.deps
        const rendered = await render(worker, id, { environment, timing: UNHURRIED })
        assert.equal(rendered?.results.length, 1)
        return
      } catch (error) {
        if ((error as { nonRetryable?: boolean }).nonRetryable === false) continue
        failed.push(`${id}: ${String(error)}`)
        return
      } finally {
        clearTimeout(timer)
      }
    }
  }

  const disturb = async (): Promise<void> => {
    while (!over.signal.aborted) {
      const fake = fleet.fakes[Math.floor(random() * 3)] ?? fleet.first
      const kind = random()
      if (kind < 0.3) await fake.restart(300)
      else if (kind < 0.5) {
        fake.freeze()
        await sleep(500)
        fake.thaw()
      } else fake.faults.push(FAULTS[Math.floor(random() * FAULTS.length)] ?? 'interrupted')
      await sleep(400)
    }
  }

  const keep = async (): Promise<void> => {
    while (!over.signal.aborted) {
      await fleet.keep()
      await sleep(200)
    }
  }

  const loops = [disturb(), keep()]
  await Promise.all(ids.map(renderToEnd))
  over.abort()
  await Promise.all(loops)
  // Under restarts without end some task may use up its placements, and then says so.
  for (const error of failed) assert.match(error, /placed 10 times/)
  assert.ok(failed.length <= TASKS / 4, failed.join())
  const all = (await Promise.all(ids.map((id) => seePlacements(place, id)))).flat()
  const ended = all.filter(({ state }) => state === 'open' || state === 'done')
  assert.equal(ended.length, TASKS - failed.length, 'one placement of each brought its result')
  for (const id of ids) assert.equal((await see(place.database, id)).failures, 0)
  const prompts = fleet.fakes.flatMap(({ prompted }) => prompted)
  console.log(`seed ${SEED}: ${all.length} placements of ${TASKS} tasks, ${prompts.length} prompts`)
})
