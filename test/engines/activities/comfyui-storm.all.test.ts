import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

import type { MockActivityEnvironment } from '@temporalio/testing'

import type { ComfyDependencies } from '../../../activities/engines/dependencies.ts'
import type { Graph } from '../../support/comfyui/validate.ts'
import type { PromptFault } from '../../support/comfyui/worker.ts'
import { makeRandom } from '../../faults/random.ts'
import { render, startFleet } from './comfyui-place.ts'
import { seePlacements } from './placements.ts'
import { TIMING, makeEnvironment, stopRun, usePlace } from '../../tasks/activities/place.ts'

const place = usePlace()

const FAULTS: PromptFault[] = ['interrupted', 'forgotten', 'output-gone', 'device']
/** Long enough that most disturbances meet a prompt. */
const SLOW = { nodeMs: 150 }
const TASKS = 60
/** Tasks beside them whose prompts break whatever runs them: these enlarge eight times. */
const POISON = 3
const poisonOf = (graph: Graph): PromptFault | undefined =>
  Object.values(graph).some(({ inputs }) => inputs['value'] === 8) ? 'device' : undefined
/** A deadline that no task meets: on a busy machine the storm lasts longer than that of the other tests. */
const UNHURRIED = { ...TIMING, deadlineSeconds: 3600 }
const SEED = Number(process.env['SEED'] ?? 1)

/** Sentences of engine_crashed and engine_failed. */
const ENDS =
  /: Two machines of the engine have reported an error of their device|placed 10 times|three times/

test('tasks of two workers that are replaced end once each while three instances restart, freeze, fall silent and fail', async (context) => {
  const random = makeRandom(SEED)
  const fleet = await startFleet(place, 'storm', [SLOW, SLOW, SLOW], {
    lostMs: 2000,
    silenceMs: 1000,
    stallMs: 4000,
  })
  for (const fake of fleet.fakes) fake.poison = poisonOf
  const workers = [fleet.deps, fleet.makeWorker()]
  const used = [...workers]
  context.after(async () => {
    await fleet.close()
    for (const { client } of used.flatMap(({ fleet }) => fleet.instances)) client.close()
  })
  const ids = await Promise.all(Array.from({ length: TASKS }, () => fleet.insert()))
  const poisonous = await Promise.all(Array.from({ length: POISON }, () => fleet.insert()))
  await place.deps.sql`
    update task set settings = '{"scale_factor": "8x"}' where id = any(${poisonous})
  `
  const over = new AbortController()
  const failed: string[] = []
  /** Attempts under way, by the worker that has them. */
  const running = new Map<MockActivityEnvironment, ComfyDependencies>()

  /** As workflow and server do: another attempt after each that failed, or whose worker went away. */
  const renderToEnd = async (id: string): Promise<void> => {
    for (let attempt = 0; ; attempt += 1) {
      const environment = makeEnvironment()
      const timer =
        random() < 0.3 && attempt < 3 ? setTimeout(() => stopRun(environment), 300) : undefined
      const worker = workers[Math.floor(random() * 2)] ?? fleet.deps
      running.set(environment, worker)
      try {
        const rendered = await render(worker, id, { environment, timing: UNHURRIED })
        assert.equal(rendered?.results.length, 1)
        return
      } catch (error) {
        if ((error as { nonRetryable?: boolean }).nonRetryable === false) continue
        failed.push(`${id}: ${String(error)}`)
        return
      } finally {
        clearTimeout(timer)
        running.delete(environment)
      }
    }
  }

  /** As a release does: another process follows what the one before it has begun. */
  const replaceWorker = (): void => {
    const index = Math.floor(random() * 2)
    const old = workers[index]
    workers[index] = fleet.makeWorker()
    used.push(workers[index])
    for (const [environment, worker] of running) if (worker === old) stopRun(environment)
  }

  const disturb = async (): Promise<void> => {
    while (!over.signal.aborted) {
      const fake = fleet.fakes[Math.floor(random() * 3)] ?? fleet.first
      const kind = random()
      if (kind < 0.3) await fake.restart(300)
      else if (kind < 0.4) {
        fake.freeze()
        await sleep(500)
        fake.thaw()
      } else if (kind < 0.5) replaceWorker()
      else if (kind < 0.55) fake.deafen()
      else if (kind < 0.6) fake.silent = !fake.silent
      // An instance that is out would collect them, and be out again at once.
      else fake.faults.splice(0, 1, FAULTS[Math.floor(random() * FAULTS.length)] ?? 'interrupted')
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
  await Promise.all([...ids, ...poisonous].map(renderToEnd))
  over.abort()
  await Promise.all(loops)
  const [crashed, others] = [true, false].map((isPoisonous) =>
    failed.filter((error) => poisonous.some((id) => error.startsWith(id)) === isPoisonous),
  ) as [string[], string[]]
  assert.equal(crashed.length, POISON)
  for (const error of crashed) assert.match(error, ENDS)
  // Under restarts without end some task may use up its placements, and devices that break its attempts.
  for (const error of others) assert.match(error, ENDS)
  assert.ok(others.length <= TASKS / 4, failed.join())
  const all = (await Promise.all(ids.map((id) => seePlacements(place, id)))).flat()
  const ended = all.filter(({ state }) => state === 'open' || state === 'done')
  assert.equal(ended.length, TASKS - others.length, 'one placement of each brought its result')
  const prompts = fleet.fakes.flatMap(({ prompted }) => prompted)
  console.log(`seed ${SEED}: ${all.length} placements of ${TASKS} tasks, ${prompts.length} prompts`)
})
