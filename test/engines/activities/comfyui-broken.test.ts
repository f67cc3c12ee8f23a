import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'

import { listCrashed } from '../../../src/engines/db/device-error.ts'
import { PLATFORM_ACCOUNT } from '../../../src/platform/domain/account.ts'
import { TASK_ERRORS } from '../../../src/tasks/domain/task-error.ts'
import type { Graph } from '../../support/comfyui/validate.ts'
import type { PromptFault } from '../../support/comfyui/worker.ts'
import { waitFor } from '../../support/wait.ts'
import { render, renderAndStop, renderToEnd, startFleet } from './comfyui-place.ts'
import { seeEnds, seePlacements } from './placements.ts'
import { again, forGood, see, usePlace } from '../../tasks/activities/place.ts'

const place = usePlace()
let fleets = 0

/** True of a task that enlarges eight times. */
const isPoisonous = (graph: Graph): boolean =>
  Object.values(graph).some(({ inputs }) => inputs['value'] === 8)

/** Instances that one task alone makes report a device error, until they are started again. */
const start = async (t: TestContext, instances: number, poison: PromptFault = 'device') => {
  const fleet = await startFleet(
    place,
    `broken${(fleets += 1)}`,
    Array.from({ length: instances }, () => ({})),
  )
  t.after(fleet.close)
  for (const fake of fleet.fakes) fake.poison = (graph) => (isPoisonous(graph) ? poison : undefined)
  await fleet.keep()
  const insertPoison = async (): Promise<string> => {
    const id = await fleet.insert()
    await place.deps.sql`update task set settings = '{"scale_factor": "8x"}' where id = ${id}`
    return id
  }
  const names = fleet.deps.fleet.instances.map(({ name }) => name)
  const listQuarantined = async () =>
    await place.deps.sql`
      select from instance where name = any(${names}) and quarantined_at is not null
    `
  return { ...fleet, names, insertPoison, listQuarantined }
}

describe('a task whose prompt makes an instance report a device error', () => {
  test('fails after two instances in a row, is named to operators, and leaves the others to work', async (t) => {
    const fleet = await start(t, 4)
    const { sql } = place.deps
    const logged: object[] = []
    const error = (facts: object) => void logged.push(facts)
    const deps = { ...fleet.deps, log: { ...fleet.deps.log, error } as typeof fleet.deps.log }
    await sql`
      insert into endpoint (owner, url, events)
      values (${PLATFORM_ACCOUNT}, 'https://example.com/hook', '{engine.crashed}')
    `
    const poison = await fleet.insertPoison()
    const others = await Promise.all(Array.from({ length: 20 }, () => fleet.insert()))
    const [end] = await Promise.allSettled([
      renderToEnd(deps, poison),
      ...others.map((id) => renderToEnd(fleet.deps, id)),
    ])
    assert.ok(end.status === 'rejected')
    assert.deepEqual(
      [end.reason.type, end.reason.message],
      ['engine_crashed', TASK_ERRORS.engine_crashed],
    )
    for (const id of others) assert.equal((await seeEnds(place, id)).at(-1), 'open')
    const placements = (await seePlacements(place, poison)).filter(({ state }) =>
      ['broken', 'crashed'].includes(state),
    )
    assert.deepEqual(
      placements.map(({ state }) => state),
      ['broken', 'crashed'],
    )
    const instances = placements.map(({ instance }) => instance)
    const [crash, ...more] = (await listCrashed(sql)).filter(({ id }) => id === poison)
    assert.deepEqual([crash?.instances, crash?.kind, more], [instances, 'upscale', []])
    assert.match(crash?.error ?? '', /^node 1 LoadImage: RuntimeError: CUDA error/)
    const [row] = await sql`select engine_error from task where id = ${poison}`
    assert.equal(row?.['engine_error'], crash?.error.trim())
    const events = await sql<{ data: Record<string, unknown> }[]>`
      select data from event where status = 'engine.crashed' and subject_id = ${poison}
    `
    assert.deepEqual(
      events.map(({ data }) => data),
      [{ task_id: poison, kind: 'upscale', instances, error: crash?.error }],
    )
    const named = logged.filter((facts) => 'instances' in facts)
    assert.deepEqual(
      named.map((facts) => ({ ...facts, detail: undefined })),
      [{ task_id: poison, instances, detail: undefined }],
    )
    assert.ok((await fleet.listQuarantined()).length <= 3)
  })

  test('takes one instance out for good where the error passes, and the second rests', async (t) => {
    const fleet = await start(t, 2, 'cuda')
    const poison = await fleet.insertPoison()
    await assert.rejects(renderToEnd(fleet.deps, poison), forGood('engine_crashed'))
    assert.deepEqual(await seeEnds(place, poison), ['broken', 'crashed'])
    assert.equal((await fleet.listQuarantined()).length, 1)
    const other = await fleet.insert()
    const rendering = render(fleet.deps, other)
    await place.deps.sql`update instance set rests_until = null where name = any(${fleet.names})`
    fleet.deps.fleet.notifier.notify()
    assert.equal((await rendering)?.results.length, 1)
    const broken = await place.deps.sql`
      select from instance where name = any(${fleet.names}) and broken_by is not null
    `
    assert.equal(broken.length, 1, 'a success shows that the second one works')
  })

  test('is not placed again where its worker died before it could fail the task', async (t) => {
    const fleet = await start(t, 3)
    const poison = await fleet.insertPoison()
    for (let attempt = 0; attempt < 2; attempt += 1)
      await assert.rejects(renderToEnd(fleet.deps, poison), forGood('engine_crashed'))
    assert.deepEqual(await seeEnds(place, poison), ['broken', 'crashed'])
    assert.equal((await see(place.database, poison)).failures, 1, 'the first is an attempt')
  })

  test('does not blame a task that an instance runs behind it', async (t) => {
    const fleet = await start(t, 1)
    const { first, deps } = fleet
    first.hold()
    const poison = render(deps, await fleet.insertPoison())
    await waitFor('the prompt', () => first.prompted.length === 1)
    const id = await fleet.insert()
    const rendering = renderToEnd(fleet.deps, id)
    await waitFor('both prompts', () => first.prompted.length === 2)
    first.release()
    await assert.rejects(poison, again('attempt_failed'))
    await waitFor('its end', async () => (await seeEnds(place, id))[0] === 'broken_device')
    assert.equal((await fleet.listQuarantined()).length, 1)
    await first.restart()
    await fleet.keep()
    assert.equal((await rendering)?.results.length, 1)
    assert.deepEqual(await seeEnds(place, id), ['broken_device', 'open'])
    assert.equal((await see(place.database, id)).failures, 0)
  })

  test('is blamed also where the end of the task behind it is read first', async (t) => {
    const fleet = await start(t, 1)
    const { first, deps } = fleet
    first.hold()
    const poison = await fleet.insertPoison()
    await renderAndStop(deps, poison, () => first.prompted.length === 1)
    const id = await fleet.insert()
    const rendering = renderToEnd(fleet.deps, id)
    await waitFor('both prompts', () => first.prompted.length === 2)
    first.release()
    await waitFor('its end', async () => (await seeEnds(place, id))[0] === 'broken_device')
    await assert.rejects(render(deps, poison), again('attempt_failed'))
    assert.deepEqual(await seeEnds(place, poison), ['broken'])
    await first.restart()
    await fleet.keep()
    assert.equal((await rendering)?.results.length, 1)
    assert.equal((await see(place.database, id)).failures, 0)
  })

  test('takes an instance out again that had rested, at the next error', async (t) => {
    const fleet = await start(t, 2)
    await assert.rejects(
      renderToEnd(fleet.deps, await fleet.insertPoison()),
      forGood('engine_crashed'),
    )
    const id = await fleet.insert()
    const rendering = render(fleet.deps, id)
    await place.deps.sql`update instance set rests_until = null where name = any(${fleet.names})`
    fleet.deps.fleet.notifier.notify()
    await waitFor('its end', async () => (await seeEnds(place, id))[0] === 'broken_device')
    assert.equal((await fleet.listQuarantined()).length, 2)
    for (const fake of fleet.fakes) await fake.restart()
    await fleet.keep()
    assert.equal((await rendering)?.results.length, 1)
  })

  test('goes on after the deaths of instances, which count for nothing', async (t) => {
    const fleet = await start(t, 3)
    const [one, two] = fleet.fakes
    one?.faults.push('cuda')
    two?.faults.push('forgotten')
    const id = await fleet.insert()
    assert.equal((await renderToEnd(fleet.deps, id))?.results.length, 1)
    assert.deepEqual(await seeEnds(place, id), ['broken', 'lost', 'open'])
  })
})
