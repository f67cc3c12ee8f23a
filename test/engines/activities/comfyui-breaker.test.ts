import assert from 'node:assert/strict'
import { afterEach, describe, test, type TestContext } from 'node:test'

import { makeBreaker } from '../../../activities/engines/breaker.ts'
import { endPause, listPauses } from '../../../src/tasks/db/pause.ts'
import type { PromptFault } from '../../support/comfyui/worker.ts'
import { attempt, render, seePlacements, startFleet } from './comfyui-place.ts'
import { admit, again, forGood, see, usePlace } from '../../tasks/activities/place.ts'

const place = usePlace()
const SCOPE = 'engine:comfyui'
const WAITING = { state: 'waiting', reason: `breaker:${SCOPE}` }
let fleets = 0

/** An instance alone, and a worker whose breaker opens at three failures in a row. */
const start = async (t: TestContext, faults: PromptFault[]) => {
  const fleet = await startFleet(place, `breaker${(fleets += 1)}`, [{}])
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
const states = async (id: string): Promise<string[]> =>
  (await seePlacements(place, id)).map(({ state }) => state)
const seeBreaker = async () =>
  (await listPauses(place.database.sql)).map(({ scope, breaker }) => [scope, breaker])

describe('the breaker of the instances of ComfyUI', () => {
  afterEach(() => place.database.sql.begin((sql) => endPause(sql, SCOPE)))

  test('opens at so many placements in a row that were lost, and costs no task an attempt', async (t) => {
    const { deps, insert } = await start(t, ['forgotten', 'forgotten', 'forgotten'])
    const [lost, later] = [await insert(), await insert()]
    assert.deepEqual(await attempt(deps, lost), WAITING)
    assert.deepEqual(await states(lost), ['lost', 'lost', 'lost'])
    assert.deepEqual(await seeBreaker(), [[SCOPE, 'open']])
    assert.deepEqual(await attempt(deps, later), WAITING)
    assert.deepEqual(await states(later), [], 'nothing of it was sent')
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

  test('opens while no instance responds, and for no task that an instance rejects', async (t) => {
    const { deps, first, insert } = await start(t, ['raise', 'raise', 'raise'])
    const raising = await insert()
    for (const type of ['attempt_failed', 'attempt_failed'])
      await assert.rejects(render(deps, raising), again(type))
    await assert.rejects(render(deps, raising), forGood('engine_failed'))
    assert.deepEqual(await seeBreaker(), [])
    await first.close()
    const waiting = await insert()
    assert.deepEqual(await attempt(deps, waiting), WAITING)
    assert.deepEqual(await seeBreaker(), [[SCOPE, 'open']])
    assert.equal((await see(place.database, waiting)).failures, 0)
  })
})
