import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { afterEach, describe, test, type TestContext } from 'node:test'

import { makeBreaker } from '../../../activities/engines/breaker.ts'
import { keepFleet } from '../../../activities/engines/comfyui-keeper.ts'
import { leave, PlacementError } from '../../../activities/engines/leave.ts'
import type { HostTask } from '../../../activities/engines/place.ts'
import { drainInstance } from '../../../src/engines/db/fleet.ts'
import { NO_INSTANCE } from '../../../src/tasks/domain/waits-for.ts'
import { endPause, listPauses } from '../../../src/tasks/db/pause.ts'
import type { PromptFault } from '../../support/comfyui/worker.ts'
import { waitFor } from '../../support/wait.ts'
import { attempt, render, startFleet } from './comfyui-place.ts'
import { seeEnds } from './placements.ts'
import { admit, again, forGood, see, usePlace } from '../../tasks/activities/place.ts'

const place = usePlace()
const SCOPE = 'engine:comfyui'
const WAITING = { state: 'waiting', reason: `breaker:${SCOPE}` }
let fleets = 0

/** An instance alone, and a worker whose breaker opens at three failures in a row. */
const start = async (t: TestContext, faults: PromptFault[], times: { awayMs?: number } = {}) => {
  const fleet = await startFleet(place, `breaker${(fleets += 1)}`, [{}], times)
  t.after(fleet.close)
  fleet.first.faults.push(...faults)
  const breaker = makeBreaker(place.deps, { max: 3, openSeconds: 3600 })
  const insert = async (): Promise<string> => {
    const id = await fleet.insert()
    await place.database.sql`update task set engine = 'comfyui' where id = ${id}`
    return id
  }
  return { ...fleet, insert, deps: { ...fleet.deps, breaker } }
}
const seeWait = async (id: string) => {
  const [row] = await place.database.sql<{ waits_for: string[] | null; ends: string[] }[]>`
    select waits_for, claimed_at is not null as has_begun,
      array(select one->>'error' from jsonb_array_elements(attempts) one) as ends
    from task where id = ${id}
  `
  return row ?? assert.fail()
}
const seeBreaker = async () =>
  (await listPauses(place.database.sql)).map(({ scope, breaker }) => [scope, breaker])

describe('the breaker of the instances of ComfyUI', () => {
  afterEach(() => place.database.sql.begin((sql) => endPause(sql, SCOPE)))

  test('opens at so many placements in a row that were lost, and costs no task an attempt', async (t) => {
    const { deps, insert } = await start(t, ['forgotten', 'forgotten', 'forgotten'])
    const [lost, later] = [await insert(), await insert()]
    assert.deepEqual(await attempt(deps, lost), WAITING)
    assert.deepEqual(await seeEnds(place, lost), ['lost', 'lost', 'lost'])
    assert.deepEqual(await seeBreaker(), [[SCOPE, 'open']])
    assert.deepEqual(await attempt(deps, later), WAITING)
    assert.deepEqual(await seeEnds(place, later), [], 'nothing of it was sent')
    for (const id of [lost, later]) assert.equal((await see(place.database, id)).failures, 0)

    // Its time has come: one task tries, and the other begins once that has worked.
    await place.database.sql`update breaker set retry_at = clock_timestamp()`
    assert.deepEqual(await seeBreaker(), [[SCOPE, 'half_open']])
    await admit(place)
    assert.deepEqual(await attempt(deps, later), WAITING)
    assert.equal((await render(deps, lost))?.results.length, 1)
    assert.deepEqual(await seeBreaker(), [])
    await admit(place)
    assert.equal((await render(deps, later))?.results.length, 1)
  })

  test('opens for no task that an instance rejects', async (t) => {
    const { deps, insert } = await start(t, ['raise', 'raise', 'raise'])
    const raising = await insert()
    for (const type of ['attempt_failed', 'attempt_failed'])
      await assert.rejects(render(deps, raising), again(type))
    await assert.rejects(render(deps, raising), forGood('engine_failed'))
    assert.deepEqual(await seeBreaker(), [])
  })

  test('stays closed while no instance responds, and each task waits at one attempt', async (t) => {
    const { deps, first, insert, keep } = await start(t, [], { awayMs: 1 })
    await first.kill()
    const away = { state: 'waiting', reason: `${NO_INSTANCE} upscale` }
    const ids = [await insert(), await insert(), await insert(), await insert()]
    for (const id of ids) assert.deepEqual(await attempt(deps, id), away)
    assert.deepEqual(await seeBreaker(), [])
    const [id = ''] = ids
    const seen = await seeWait(id)
    const name = deps.fleet.instances[0]?.name
    assert.deepEqual(seen, {
      waits_for: [`${name} does not respond: no connection could be made: the port is closed`],
      ends: ['put_back'],
      has_begun: true,
    })
    await keep()
    await admit(place)
    assert.deepEqual(await attempt(deps, id), away, 'nothing lets it go on')
    assert.deepEqual(await seeWait(id), seen)

    await first.start()
    for (const instance of deps.fleet.instances) await instance.probe(performance.now())
    await keep()
    await admit(place)
    assert.equal((await render(deps, id))?.results.length, 1)
    assert.deepEqual((await seeWait(id)).ends, ['put_back', null])
    assert.equal((await see(place.database, id)).failures, 0)
  })

  test('stays closed where the only instance dies under its tasks', async (t) => {
    const { deps, first, insert } = await start(t, [], { awayMs: 1 })
    for (const instance of deps.fleet.instances) await instance.probe(performance.now())
    await first.kill()
    for (const instance of deps.fleet.instances) await instance.probe(performance.now())
    const given = { deps, scope: SCOPE } as unknown as HostTask
    for (let count = 0; count < 3; count += 1) {
      const id = await insert()
      const [instance = assert.fail()] = deps.fleet.instances
      const chosen = { id: randomUUID(), instance, isNew: true, isInterrupted: false }
      await place.database.sql`
        insert into placement (id, task_id, instance, template, inputs)
        values (${chosen.id}, ${id}, ${instance.name}, 'upscale', '{}')
      `
      const task = { id, fence: 0 }
      await leave({ ...given, task } as HostTask, chosen, new PlacementError('unreachable', 'x'))
    }
    assert.deepEqual(await seeBreaker(), [])
  })
})

describe('a task that no instance of ComfyUI can take', () => {
  const away = (...template: string[]) => ({
    state: 'waiting',
    reason: [NO_INSTANCE, ...template].join(' '),
  })
  const drain = ({ deps }: Awaited<ReturnType<typeof start>>, isDrained: boolean) =>
    drainInstance(place.deps.sql, { name: deps.fleet.instances[0]?.name ?? '', isDrained })

  test('waits while all are drained, and goes on when one is not', async (t) => {
    const fleet = await start(t, [], { awayMs: 1 })
    const { deps, insert, keep } = fleet
    const id = await insert()
    await keep()
    await drain(fleet, true)
    assert.deepEqual(await attempt(deps, id), away('upscale'))
    const name = deps.fleet.instances[0]?.name
    assert.deepEqual(await seeWait(id), {
      waits_for: [`${name} is drained`],
      ends: ['put_back'],
      has_begun: true,
    })
    await keep()
    await admit(place)
    assert.deepEqual(await attempt(deps, id), away('upscale'))
    assert.deepEqual((await seeWait(id)).ends, ['put_back'], 'nothing lets it go on')
    await drain(fleet, false)
    await keep()
    await admit(place)
    assert.equal((await render(deps, id))?.results.length, 1)
    assert.equal((await see(place.database, id)).failures, 0)
  })

  test('waits while none can run its template, and goes on when one can', async (t) => {
    const { deps, first, insert, keep, makeWorker } = await start(t, [], { awayMs: 1 })
    first.without.push('ImageSharpen')
    const id = await insert()
    assert.deepEqual(await attempt(deps, id), away('upscale'))
    assert.match((await seeWait(id)).waits_for?.[0] ?? '', /there is no class ImageSharpen/)
    await keep()
    await admit(place)
    assert.deepEqual(await attempt(deps, id), away('upscale'))
    assert.deepEqual((await seeWait(id)).ends, ['put_back'], 'nothing lets it go on')
    first.without.length = 0
    const later = makeWorker()
    await keepFleet(later)
    await admit(place)
    assert.equal((await render(later, id))?.results.length, 1)
  })

  test('waits while the only one is silent under it, and is found there again', async (t) => {
    const { deps, first, insert, keep } = await start(t, [], { awayMs: 1 })
    const id = await insert()
    first.hold()
    const rendering = attempt(deps, id)
    await waitFor('it runs', () => first.isRunning())
    first.intercept = () => 'drop'
    assert.deepEqual(await rendering, away())
    const name = deps.fleet.instances[0]?.name
    const { waits_for: reasons, ends } = await seeWait(id)
    assert.match(reasons?.[0] ?? '', new RegExp(`^${name} does not respond: `))
    assert.deepEqual(ends, ['put_back'])
    await keep()
    await admit(place)
    assert.deepEqual(await attempt(deps, id), away())
    assert.deepEqual((await seeWait(id)).ends, ['put_back'], 'nothing lets it go on')
    first.intercept = undefined
    for (const instance of deps.fleet.instances) await instance.probe(performance.now())
    await keep()
    await admit(place)
    const rendered = render(deps, id)
    await waitFor('it waits no more', async () => (await seeWait(id)).waits_for === null)
    first.release()
    assert.equal((await rendered)?.results.length, 1)
    assert.deepEqual(
      [first.prompted.length, await seeEnds(place, id)],
      [1, ['open']],
      'rendered once',
    )
  })
})
