import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'

import type { ComfyDependencies } from '../../../activities/engines/dependencies.ts'
import { listInstanceDetails } from '../../../src/engines/db/fleet.ts'
import type { FakeComfy, FakeComfyOptions } from '../../support/comfyui/fake.ts'
import { PATIENCE_MS } from '../../support/patience.ts'
import { waitFor } from '../../support/wait.ts'
import { render, renderAndStop, startFleet } from './comfyui-place.ts'
import { seeEnds } from './placements.ts'
import { makeEnvironment, see, usePlace } from '../../tasks/activities/place.ts'

const place = usePlace()
let fleets = 0

/** Three times as long as a node of these tests. */
const STALL_MS = 1500

/** A fleet of a test alone, whose prompts are held. */
const start = async (t: TestContext, given: readonly FakeComfyOptions[] = [{}]) => {
  const fleet = await startFleet(place, `stall${(fleets += 1)}`, given, { stallMs: STALL_MS })
  t.after(fleet.close)
  fleet.first.hold()
  const later = fleet.makeWorker()
  t.after(() => later.fleet.instances.forEach(({ client }) => client.close()))
  return { ...fleet, later, id: await fleet.insert() }
}

const listInterrupts = ({ requests }: FakeComfy): string[] =>
  requests.filter((request) => request === 'POST /interrupt')

/** Waits for longer than a stall: a worker polls every tenth of a second for two seconds, then once a second. */
const POLLS = 22
const outlast = async ({ requests }: FakeComfy): Promise<void> => {
  const polls = () => requests.filter((request) => request === 'GET /queue').length
  const before = polls()
  await waitFor('polls', () => polls() - before > POLLS)
}

/** Has a worker send the prompt and stop, as it does for a release. */
const sendAndStop = async (deps: ComfyDependencies, first: FakeComfy, id: string) => {
  const patient = { ...deps, fleet: { ...deps.fleet, stallMs: PATIENCE_MS } }
  await renderAndStop(patient, id, () => first.prompted.length === 1 && first.isRunning())
}

/** Renders, and returns what operators saw of its progress, in per cent. */
const renderWithProgress = async (deps: ComfyDependencies, id: string) => {
  const environment = makeEnvironment()
  const percents: number[] = []
  environment.on('heartbeat', ({ percent }: { percent: number }) => percents.push(percent))
  const rendered = render(deps, id, { environment })
  return { rendered, percents }
}

describe('a prompt of a fleet', { concurrency: true }, () => {
  for (const from of ['its start', 'its middle'])
    test(`is not interrupted when its instance sends nothing from ${from} on`, async (t) => {
      const { deps, first, id } = await start(t)
      first.silent = from === 'its start'
      const rendering = render(deps, id)
      await waitFor('the prompt runs', () => first.isRunning())
      first.silent = true
      await outlast(first)
      first.release()
      assert.equal((await rendering)?.results.length, 1)
      assert.deepEqual([await seeEnds(place, id), listInterrupts(first)], [['open'], []])
      assert.equal(first.prompted.length, 1)
    })

  test('is followed with its events by the next worker, which does not interrupt it', async (t) => {
    const { deps, later, first, id } = await start(t, [{ nodeMs: 500 }])
    await sendAndStop(deps, first, id)
    const { rendered, percents } = await renderWithProgress(later, id)
    await outlast(first)
    first.release()
    assert.equal((await rendered)?.results.length, 1)
    assert.ok(
      percents.some((percent) => percent > 0 && percent < 100),
      percents.join(),
    )
    assert.deepEqual([await seeEnds(place, id), listInterrupts(first)], [['open'], []])
    assert.deepEqual(new Set(first.clients), new Set(first.prompted), 'its client is its own')
    assert.equal(first.prompted.length, 1)
  })

  test('has its progress again after its socket has died', async (t) => {
    const { deps, first, id } = await start(t, [{ nodeMs: 500 }])
    const patient = { ...deps, fleet: { ...deps.fleet, stallMs: 6000 } }
    const { rendered, percents } = await renderWithProgress(patient, id)
    await waitFor('the prompt runs', () => first.isRunning())
    first.deafen()
    const before = first.clients.length
    await waitFor('another socket', () => first.clients.length > before)
    first.release()
    assert.equal((await rendered)?.results.length, 1)
    assert.ok(
      percents.some((percent) => percent > 0 && percent < 100),
      percents.join(),
    )
    assert.deepEqual(await seeEnds(place, id), ['open'])
  })

  test('is interrupted when its events stop and it does not, which operators see', async (t) => {
    const { deps, id } = await start(t, [{}, {}])
    const logged: string[] = []
    const warn = (_facts: object, message: string) => void logged.push(message)
    const log = { ...deps.log, warn } as typeof deps.log
    assert.equal((await render({ ...deps, log }, id))?.results.length, 1)
    assert.deepEqual(await seeEnds(place, id), ['stalled', 'open'])
    assert.equal((await see(place.database, id)).failures, 0)
    assert.ok(logged.includes('a prompt is interrupted because its events have stopped'))
    const name = deps.fleet.instances[0]?.name
    const found = (await listInstanceDetails(place.deps.sql)).find((one) => one.name === name)
    assert.deepEqual(found?.ends, [{ end: 'stalled', count: 1 }])
    assert.match(found.last_error ?? '', /^its events had stopped: interrupted at node/)
    assert.notEqual(found.state, 'quarantined')
  })

  test('is interrupted by the next worker when one has died before it could', async (t) => {
    const { deps, later, first, id } = await start(t)
    await sendAndStop(deps, first, id)
    await place.deps.sql`update placement set interrupted_at = now() where task_id = ${id}`
    const rendered = render(later, id)
    await waitFor('the interrupt', () => listInterrupts(first).length > 0)
    first.release()
    assert.equal((await rendered)?.results.length, 1)
    assert.deepEqual(await seeEnds(place, id), ['stalled', 'open'])
  })
})
