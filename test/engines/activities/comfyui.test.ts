import assert from 'node:assert/strict'
import { readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { describe, test, type TestContext } from 'node:test'

import sharp from 'sharp'

import { releaseTemplates } from '../../../src/tasks/db/release.ts'
import { makeFleetCommands } from '../../../src/operate/fleet.ts'
import type { Config } from '../../../src/compose/settings/env.ts'
import { AUDIT } from '../../registry/db/registry-place.ts'
import type { FakeComfyOptions } from '../../support/comfyui/fake.ts'
import type { PromptFault } from '../../support/comfyui/worker.ts'
import { waitFor } from '../../support/wait.ts'
import { cancelTasks } from '../../support/task-rows.ts'
import { TOKEN, attempt, render, renderAndStop, renderToEnd, startFleet } from './comfyui-place.ts'
import { seeEnds, seePlacements } from './placements.ts'
import {
  admit,
  again,
  cancelRun,
  forGood,
  losing,
  makeEnvironment,
  see,
  usePlace,
} from '../../tasks/activities/place.ts'

const place = usePlace()
let fleets = 0

/** A fleet of a test alone. */
const start = async (
  t: TestContext,
  given: readonly FakeComfyOptions[] = [{}],
  times: Parameters<typeof startFleet>[3] = {},
) => {
  const fleet = await startFleet(place, `fleet${(fleets += 1)}`, given, times)
  t.after(fleet.close)
  return { ...fleet, id: await fleet.insert() }
}

const listResults = (id: string) => place.deps.storage.list(`results/${id}`)

/** Sizes of the files that an instance has. */
const listSizes = async (root: string): Promise<number[]> => {
  const entries = await readdir(root, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  return await Promise.all(
    files.map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size),
  )
}

describe('an image task of a fleet', { concurrency: true }, () => {
  test('is placed, rendered, stored without metadata, and cleaned up', async (t) => {
    const { deps, first, id, keep } = await start(t)
    const rendered = await render(deps, id)
    const [result] = rendered?.results ?? []
    assert.deepEqual([result?.contentType, result?.width, result?.height], ['image/png', 32, 32])
    const stored = await place.deps.storage.open(result?.storageKey ?? '')
    const bytes = await buffer(stored.stream)
    assert.deepEqual((await sharp(bytes).metadata()).comments ?? [], [])
    assert.ok(!bytes.includes('class_type'))
    const [placement] = await seePlacements(place, id)
    assert.deepEqual(first.prompted, [placement?.id])
    assert.equal(placement?.state, 'open')
    await keep()
    const cleaned = await seePlacements(place, id)
    assert.deepEqual(
      cleaned.map(({ state, cleaned }) => [state, cleaned]),
      [['done', true]],
    )
    assert.equal((await listSizes(first.folders.root)).filter((size) => size > 0).length, 0)
    assert.ok(first.requests.includes('POST /history'))
  })

  test('is rendered again by a result without a prefix, whose file of before was emptied', async (t) => {
    const { deps, first, id, insert, keep } = await start(t, [{ argv: ['--cache-lru', '20'] }])
    const { fleet } = deps
    fleet.templates = fleet.templates.map((template) => ({
      ...template,
      graph: {
        ...template.graph,
        // The same for each task: no input of theirs is before it.
        8: {
          class_type: 'EmptyImage',
          inputs: { width: 32, height: 32, batch_size: 1, color: 255 },
          title: '',
        },
        9: { class_type: 'PreviewImage', inputs: { images: ['8', 0] }, title: 'kiln:result' },
      },
    }))
    for (const task of [id, await insert()]) {
      const rendered = await render(deps, task)
      const { storageKey = '' } = rendered?.results[0] ?? {}
      const { stream } = await place.deps.storage.open(storageKey)
      assert.equal((await sharp(await buffer(stream)).metadata()).width, 32)
      await keep()
      assert.equal((await seePlacements(place, task))[0]?.cleaned, true)
    }
    assert.equal(first.prompted.length, 2)
    assert.equal((await listSizes(first.folders.path('temp'))).filter((size) => size > 0).length, 0)
  })

  test('leaves nothing on an instance that was killed after its render', async (t) => {
    const { deps, first, id, keep } = await start(t)
    await render(deps, id)
    const [placement] = await seePlacements(place, id)
    const folder = join(first.folders.path('output'), 'kiln', placement?.id ?? '')
    // As other nodes of the workflow leave them: a film with its sound, and a second picture.
    for (const name of ['r_00001.mp4', 'r_00001-audio.mp4', 'r_00002_.webp'])
      await writeFile(join(folder, name), 'what a caller asked for')
    await first.restart()
    await keep()
    assert.equal((await seePlacements(place, id))[0]?.cleaned, true)
    assert.deepEqual(await listSizes(folder), [0, 0, 0, 0])
    assert.equal((await listSizes(first.folders.root)).filter((size) => size > 0).length, 0)
  })

  test('waits while the file of its template cannot be used, and says so to an operator', async (t) => {
    const { deps, first, id } = await start(t)
    const { sql } = place.deps
    const { fleet } = deps
    const { templates } = fleet
    await sql`update task set engine = 'comfyui' where id = ${id}`
    fleet.templates = templates.filter(({ name }) => name !== 'upscale')
    fleet.unusable = { 'upscale.json': ['upscale.json: is no JSON'] }
    const waiting = { state: 'waiting', reason: 'template:upscale.json' }
    assert.deepEqual(await attempt(deps, id), waiting)
    const [row] = await sql`select waits_for from task where id = ${id}`
    assert.deepEqual(row?.['waits_for'], ['upscale.json in COMFYUI_TEMPLATES cannot be used'])
    assert.deepEqual(first.prompted, [])
    // What was read of it before renders on.
    fleet.templates = templates
    assert.deepEqual(await attempt(deps, id), waiting, 'it was not admitted again')
    assert.ok(await releaseTemplates(sql, {}))
    await admit(place)
    assert.equal((await render(deps, id))?.results.length, 1)
    const { admission, failures } = await see(place.database, id)
    assert.deepEqual([admission, failures], [2, 0])
  })

  test('reports how far it is, and ends without a socket all the same', async (t) => {
    const { deps, first, id, insert } = await start(t, [{ nodeMs: 800 }])
    const environment = makeEnvironment()
    const percents: number[] = []
    environment.on('heartbeat', ({ percent }: { percent: number }) => percents.push(percent))
    const rendering = render(deps, id, { environment })
    const progress = await waitFor('progress of the row', async () => {
      const [row] = await place.deps.sql`select progress from task where id = ${id}`
      return Number(row?.['progress'])
    })
    assert.ok(progress < 100, String(progress))
    await rendering
    assert.ok(
      percents.some((percent) => percent > 0 && percent < 100),
      percents.join(),
    )
    first.silent = true
    assert.equal((await render(deps, await insert()))?.results.length, 1)
  })

  const PAIR = [{}, {}]
  const TABLE: [fault: PromptFault, state: string, failures: number][] = [
    ['raise', 'failed', 1],
    ['unstorable', 'failed', 1],
    ['oom', 'out_of_memory', 1],
    ['oom_cpu', 'out_of_memory', 1],
    ['oom_numpy', 'out_of_memory', 1],
    ['cuda', 'broken', 1],
    ['model', 'unable', 0],
    ['interrupted', 'interrupted', 0],
    ['forgotten', 'lost', 0],
    ['output-gone', 'output_gone', 0],
    ['output-truncated', 'failed', 1],
    ['no-output', 'failed', 1],
  ]
  for (const [fault, state, failures] of TABLE)
    test(`goes elsewhere after ${fault}, which ${failures === 0 ? 'costs no attempt' : 'is an attempt'}`, async (t) => {
      const { deps, fakes, id } = await start(t, PAIR)
      for (const fake of fakes.slice(0, 1)) fake.faults.push(fault)
      const rendered = await renderToEnd(deps, id)
      assert.equal(rendered?.results.length, 1)
      const placements = await seePlacements(place, id)
      assert.deepEqual(
        placements.map(({ state }) => state),
        [state, 'open'],
      )
      assert.notEqual(placements[0]?.instance, placements[1]?.instance)
      assert.equal((await see(place.database, id)).failures, failures)
    })

  test('fails after three errors of the engine', async (t) => {
    const { deps, fakes, id } = await start(t, PAIR)
    for (const fake of fakes) fake.faults.push('raise', 'raise')
    await assert.rejects(renderToEnd(deps, id), forGood('engine_failed'))
    assert.deepEqual(await seeEnds(place, id), ['failed', 'failed', 'failed'])
  })

  test('is too large for the machines once all of them were out of memory', async (t) => {
    const { deps, fakes, id } = await start(t, [
      { vramBytes: 1e9 },
      { vramBytes: 1e9 },
      { vramBytes: 9e9 },
    ])
    for (const fake of fakes) fake.faults.push('oom')
    await assert.rejects(renderToEnd(deps, id), {
      message: 'The task is too large for the machines.',
    })
    const [first, second] = await seePlacements(place, id)
    assert.match(first?.instance ?? '', /-1$/)
    assert.match(second?.instance ?? '', /-3$/, 'the larger one first')
    for (const fake of fakes) assert.ok(fake.requests.includes('POST /free'))
  })

  test('is tried once more on a single machine that was out of memory, after its rest', async (t) => {
    const { deps, first, id } = await start(t)
    first.faults.push('oom')
    await assert.rejects(render(deps, id), again('attempt_failed'))
    const rendering = render(deps, id)
    await place.deps
      .sql`update instance set rests_until = null where name = ${deps.fleet.instances[0]?.name ?? ''}`
    deps.fleet.notifier.notify()
    assert.equal((await rendering)?.results.length, 1)
  })

  test('goes elsewhere when an instance restarts, at once', async (t) => {
    const { deps, fakes, id, keep } = await start(t, PAIR)
    await keep()
    const [first] = fakes
    first?.hold()
    const rendering = render(deps, id)
    await waitFor('the prompt', () => first?.prompted.length === 1)
    await first?.restart()
    first?.release()
    assert.equal((await rendering)?.results.length, 1)
    const [lost, done] = await seePlacements(place, id)
    assert.deepEqual([lost?.state, lost?.detail, done?.state], ['lost', 'it has restarted', 'open'])
    assert.equal((await see(place.database, id)).failures, 0)
  })

  test('goes elsewhere after a silence, and is cancelled where it was once that responds', async (t) => {
    const { deps, fakes, id, keep } = await start(t, PAIR, { lostMs: 300, silenceMs: 200 })
    const [first] = fakes
    first?.hold()
    const rendering = render(losing(deps), id)
    await waitFor('the prompt', () => first?.prompted.length === 1)
    first?.freeze()
    await assert.rejects(rendering, again('attempt_failed'))
    assert.deepEqual(await seeEnds(place, id), ['unreachable', 'open'])
    first?.thaw()
    await waitFor('the end of what nobody waits for', async () => {
      await keep()
      await place.deps.sql`update placement set leased_until = null where task_id = ${id}`
      return (await seePlacements(place, id))[0]?.cleaned
    })
    assert.ok(first?.requests.includes('POST /interrupt'))
    assert.ok((await seePlacements(place, id))[1]?.cleaned === false, 'that of an open task stays')
  })

  test('leaves an instance whose thread is dead until its restart', async (t) => {
    const { deps, fakes, id, keep } = await start(t, PAIR, { stallMs: 300 })
    await keep()
    const [first] = fakes
    first?.faults.push('zombie')
    assert.equal((await render(deps, id))?.results.length, 1)
    assert.deepEqual(await seeEnds(place, id), ['zombie', 'open'])
    const name = deps.fleet.instances[0]?.name ?? ''
    const quarantined = async () => {
      const [row] = await place.deps.sql`select quarantined_at from instance where name = ${name}`
      return row?.['quarantined_at'] !== null
    }
    assert.ok(await quarantined())
    await keep()
    assert.ok(await quarantined(), 'it has not restarted')
    await first?.restart()
    await waitFor('its return', async () => {
      await keep()
      return !(await quarantined())
    })
  })

  test('ends as rejected when every instance rejects a value of it', async (t) => {
    const { deps, fakes, id } = await start(t, PAIR)
    const body = JSON.stringify({
      node_errors: {
        '2': { class_type: 'PrimitiveFloat', errors: [{ type: 'invalid_input_type' }] },
      },
    })
    for (const fake of fakes)
      fake.intercept = (request) => (request === 'POST /prompt' ? { status: 400, body } : undefined)
    await assert.rejects(renderToEnd(deps, id), forGood('upstream_rejected'))
    assert.deepEqual(await seeEnds(place, id), ['rejected', 'rejected'])
    const [row] = await place.deps.sql`select engine_error from task where id = ${id}`
    assert.equal(row?.['engine_error'], 'node 2 "kiln:scale" PrimitiveFloat: invalid_input_type')
  })

  test('goes to an instance that has the classes, and takes the size', async (t) => {
    const { deps, fakes, id } = await start(t, [{ without: ['ImageSharpen'] }, {}])
    assert.equal((await render(deps, id))?.results.length, 1)
    assert.deepEqual(
      fakes.map(({ prompted }) => prompted.length),
      [0, 1],
    )
    const small = await start(t, [{ maxUploadBytes: 10 }, {}])
    assert.equal((await render(small.deps, small.id))?.results.length, 1)
    assert.deepEqual(
      small.fakes.map(({ prompted }) => prompted.length),
      [0, 1],
    )
  })

  test('has the response to its prompt once, when that is lost on the way', async (t) => {
    const { deps, first, id } = await start(t)
    let lost = 0
    first.intercept = (request) =>
      request === 'POST /prompt' && (lost += 1) === 1 ? 'lose' : undefined
    assert.equal((await render(deps, id))?.results.length, 1)
    assert.equal(first.prompted.length, 1)
    assert.deepEqual(await seeEnds(place, id), ['open'])
  })

  test('is fetched again when that breaks off, and not rendered again', async (t) => {
    const { deps, first, id } = await start(t)
    let broken = 0
    first.intercept = (request) =>
      request.startsWith('GET /view?filename=r_') && (broken += 1) < 3 ? 'drop' : undefined
    assert.equal((await render(deps, id))?.results.length, 1)
    assert.deepEqual([broken, first.prompted.length], [3, 1])
  })

  test('is followed by the next attempt where the last one died, and sent where that was too early', async (t) => {
    const { deps, first, id } = await start(t)
    first.hold()
    await renderAndStop(deps, id, () => first.prompted.length === 1)
    first.release()
    await assert.rejects(render(losing(deps), id), again('attempt_failed'))
    assert.equal((await listResults(id)).length, 2, 'it was rendered')
    assert.equal(first.prompted.length, 1, 'followed')
    assert.ok(!first.requests.includes('POST /interrupt'))
    await first.restart()
    assert.equal((await render(deps, id))?.results.length, 1)
    const [placement] = await seePlacements(place, id)
    assert.deepEqual(first.prompted, [placement?.id, placement?.id], 'sent again under its id')
  })

  test('is cancelled there with its cancellation, running or pending', async (t) => {
    for (const version of ['0.3.64', '0.27.0']) {
      const { deps, first, id, insert, keep } = await start(t, [{ version }])
      const ids = [id, await insert()]
      first.hold()
      const environments = ids.map(() => makeEnvironment())
      const renderings = ids.map((id, index) =>
        render(deps, id, { environment: environments[index] as never }),
      )
      await waitFor('the prompts', () => first.prompted.length === 2)
      for (const environment of environments) cancelRun(environment)
      const ends = await Promise.allSettled(renderings)
      for (const end of ends)
        assert.equal(end.status === 'rejected' && String(end.reason.name), 'CancelledFailure')
      await cancelTasks(place.deps.sql, ids)
      await waitFor('the end of both', async () => {
        await keep()
        await place.deps.sql`update placement set leased_until = null where task_id = any(${ids})`
        return (await Promise.all(ids.map((id) => seePlacements(place, id))))
          .flat()
          .every(({ cleaned }) => cleaned)
      })
    }
  })

  test('waits for a place: at most two are on an instance, whatever the number of workers', async (t) => {
    const { deps, makeWorker, first, id, insert } = await start(t)
    const other = makeWorker()
    t.after(() => other.fleet.instances.forEach(({ client }) => client.close()))
    const ids = [id, ...(await Promise.all([insert(), insert(), insert(), insert()]))]
    first.hold()
    const renderings = ids.map((id, index) => render(index % 2 ? deps : other, id))
    await waitFor('two prompts', () => first.prompted.length === 2)
    first.release()
    await Promise.all(renderings)
    assert.equal(first.prompted.length, 5)
  })

  test('goes elsewhere while an instance is drained', async (t) => {
    const { deps, fakes, id, keep } = await start(t, PAIR)
    await keep()
    const name = deps.fleet.instances[0]?.name ?? ''
    const { instance, instances } = makeFleetCommands({
      config: {} as Config,
      sql: place.deps.sql,
      audit: AUDIT,
      searchPath: '',
      write: () => {},
    })
    assert.match(await instance({ name, isDrained: true }), /no more tasks/)
    await render(deps, id)
    assert.deepEqual(
      fakes.map(({ prompted }) => prompted.length),
      [0, 1],
    )
    assert.match(await instances(), new RegExp(`${name}  draining  0 tasks`))
    await assert.rejects(instance({ name: 'x', isDrained: true }), /there is no instance x/)
  })

  test('gives up after ten placements', async (t) => {
    const { deps, first, id } = await start(t)
    first.faults.push(...Array.from({ length: 10 }, () => 'interrupted' as const))
    await assert.rejects(renderToEnd(deps, id), forGood('engine_failed'))
    assert.equal((await seeEnds(place, id)).length, 10)
  })

  test('says the token to its instance, and to nobody else', async (t) => {
    const lines: string[] = []
    const { deps, first, id } = await start(t)
    const log = new Proxy(deps.log, {
      get:
        () =>
        (...facts: unknown[]) =>
          void lines.push(JSON.stringify(facts)),
    })
    first.faults.push('raise')
    await assert.rejects(render({ ...deps, log }, id), again('attempt_failed'))
    await render({ ...deps, log }, id)
    assert.ok(lines.length > 0)
    assert.doesNotMatch(
      lines.join(),
      new RegExp(`${TOKEN}|traceback|current_inputs|execution\\.py`),
    )
  })

  test('is sent with the workflow as the editor saves it, where that is beside its template', async (t) => {
    const { deps, first, id } = await start(t)
    const { fleet } = deps
    const workflow = { nodes: [{ id: 1, type: 'LoadImage' }] }
    fleet.templates = fleet.templates.map((template) => ({ ...template, workflow }))
    first.hold()
    const rendered = render(deps, id)
    const [item] = await waitFor('the prompt to run', async () => {
      const response = await fetch(`${first.url}/queue`)
      const { queue_running: running } = (await response.json()) as { queue_running: unknown[][] }
      return running.length > 0 && running
    })
    first.release()
    const [client_id] = first.prompted
    assert.deepEqual(item?.[3], { client_id, extra_pnginfo: { workflow } })
    assert.equal((await rendered)?.results.length, 1)
  })
})
