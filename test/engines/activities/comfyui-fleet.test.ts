import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'

import {
  drainInstance,
  findModelInstances,
  listInstanceDetails,
} from '../../../src/engines/db/fleet.ts'
import { insertPlacement } from '../../../src/engines/db/placement.ts'
import type { Template } from '../../../src/engines/domain/template/template.ts'
import { makeMetrics } from '../../../src/platform/process/metrics.ts'
import { makeBareClient, makeGraph } from '../../support/comfyui/bare-client.ts'
import type { FakeComfy, FakeComfyOptions } from '../../support/comfyui/fake.ts'
import { PATIENCE_MS } from '../../support/patience.ts'
import { makePicture } from '../../support/pictures.ts'
import { waitFor } from '../../support/wait.ts'
import { keepFleet } from '../../../activities/engines/comfyui-keeper.ts'
import { render, renderAndStop, startFleet } from './comfyui-place.ts'
import { seeEnds, seePlacements } from './placements.ts'
import {
  again,
  forGood,
  makeEnvironment,
  see,
  stopRun,
  usePlace,
} from '../../tasks/activities/place.ts'

const place = usePlace()
let fleets = 0

/** A fleet of a test alone. */
const start = async (
  t: TestContext,
  given: readonly FakeComfyOptions[] = [{}, {}],
  times: Parameters<typeof startFleet>[3] = {},
) => {
  const fleet = await startFleet(place, `machine${(fleets += 1)}`, given, times)
  t.after(fleet.close)
  const [first, second] = fleet.fakes as [FakeComfy, FakeComfy]
  const names = fleet.deps.fleet.instances.map(({ name }) => name) as [string, string]
  return { ...fleet, first, second, names, id: await fleet.insert() }
}

/** Instances of a task's placements, `1` being the first, and the states of these. */
const seeWay = async (id: string): Promise<string[]> =>
  (await seePlacements(place, id)).map(
    ({ instance, state }) => `${instance.split('-')[1]} ${state}`,
  )

/** Reads why a task waits. */
const waitOf = async (id: string): Promise<string[] | null | undefined> => {
  const [row] = await place.deps.sql<{ waits_for: string[] | null }[]>`
    select waits_for from task where id = ${id}
  `
  return row?.waits_for
}

/** Queues prompts of somebody else. */
const crowd = async ({ url }: FakeComfy, prompts: number): Promise<void> => {
  const stranger = makeBareClient(url)
  await stranger.upload({ name: 'theirs.png', bytes: await makePicture() })
  for (let index = 0; index < prompts; index += 1)
    await stranger.post('/prompt', { prompt: makeGraph('theirs.png', `theirs-${index}`) })
}

/** Says what the last placement of an instance was. */
const remember = (name: string, template: string) =>
  place.deps.sql`
    insert into instance (name, template) values (${name}, ${template})
    on conflict (name) do update set template = excluded.template
  `

/** The template of the tests with a second output, of which an instance takes no part. */
const addInvalidOutput = (template: Template): Template => ({
  ...template,
  graph: {
    ...template.graph,
    20: {
      class_type: 'ImageBlur',
      title: 'Blur',
      inputs: { image: ['1', 0], blur_radius: 1000, sigma: 1 },
    },
    21: {
      class_type: 'SaveImage',
      title: 'Save Image',
      inputs: { images: ['20', 0], filename_prefix: 'other' },
    },
  },
})

const inputsOf = (fake: FakeComfy): string[] =>
  readdirSync(fake.folders.path('input'), { recursive: true, encoding: 'utf8' })
    .map((name) => join(fake.folders.path('input'), name))
    .filter((path) => statSync(path).isFile())

describe('a task on a fleet', { concurrency: true }, () => {
  test('is moved away from behind a prompt that stands still, which stays', async (t) => {
    const { deps, first, names, id } = await start(t, [{}, {}], {
      stallMs: PATIENCE_MS / 12,
    })
    first.hold()
    await crowd(first, 1)
    await remember(names[0], 'upscale')
    assert.equal((await render(deps, id))?.results.length, 1)
    assert.deepEqual(await seeWay(id), ['1 moved', '2 open'])
    const { queue_running: running, queue_pending: pending } = await makeBareClient(
      first.url,
    ).queue()
    assert.deepEqual([running.map(([, id]) => id), pending], [first.prompted.slice(0, 1), []])
    assert.equal((await see(place.database, id)).failures, 0)
  })

  test('is not placed again behind a prompt that stands still, and says what it waits for', async (t) => {
    const { deps, first, names, id } = await start(t, [{}], { stallMs: 500 })
    first.hold()
    await crowd(first, 1)
    const rendered = render(deps, id)
    const reason = `${names[0]} has a prompt that does not move`
    await waitFor('it waits', async () => (await waitOf(id))?.[0] === reason)
    const before = await seeEnds(place, id)
    assert.ok(before.length <= 1, before.join())
    first.release()
    assert.equal((await rendered)?.results.length, 1)
    assert.deepEqual([await seeEnds(place, id), await waitOf(id)], [[...before, 'open'], null])
  })

  test('is placed once at an instance that has died since it was asked', async (t) => {
    const { deps, first, names, id } = await start(t, [{}])
    await deps.fleet.instances[0]?.probe(performance.now())
    first.intercept = (request) => {
      if (request !== 'POST /upload/image') return undefined
      void first.kill()
      return 'drop'
    }
    const rendered = render(deps, id)
    const reason = `${names[0]} does not respond: no connection could be made: the port is closed`
    await waitFor('it waits', async () => (await waitOf(id))?.[0] === reason)
    assert.deepEqual(await seeEnds(place, id), ['unreachable'])
    first.intercept = undefined
    await first.start()
    assert.equal((await rendered)?.results.length, 1)
    assert.deepEqual(await seeEnds(place, id), ['unreachable', 'open'])
  })

  test('says what each instance lacks while none can take it', async (t) => {
    const { deps, keep, names, id } = await start(t, [{ without: ['ImageSharpen'] }, {}])
    const changes: string[] = []
    await keep()
    const drain = (isDrained: boolean) =>
      drainInstance(place.deps.sql, { name: names[1], isDrained })
    await drain(true)
    const rendered = render({ ...deps, notifyChange: (id) => void changes.push(id) }, id)
    await waitFor('it waits', async () => (await waitOf(id)) !== null)
    assert.deepEqual(await waitOf(id), [
      `${names[0]} cannot run upscale: node 4 "Sharpen": there is no class ImageSharpen`,
      `${names[1]} is drained`,
    ])
    await drain(false)
    assert.equal((await rendered)?.results.length, 1)
    assert.equal(await waitOf(id), null)
    assert.ok(changes.length >= 2, 'those who watch it are notified of both')
    assert.deepEqual(new Set(changes), new Set([id]))
  })

  test('waits without a reason while an instance is only busy', async (t) => {
    const { deps, first, id, insert } = await start(t, [{}], { depth: 1 })
    first.hold()
    const other = await insert()
    const held = render(deps, other)
    await waitFor('the first is there', async () => (await seeEnds(place, other)).length === 1)
    const rendered = render(deps, id)
    await waitFor('it waits', async () => (await waitOf(id)) !== null)
    assert.deepEqual(await waitOf(id), [])
    first.release()
    await Promise.all([held, rendered])
  })

  test('goes elsewhere when an upload is larger than an instance says, and fails when all are so', async (t) => {
    const { deps, first, second, id, insert } = await start(t)
    const tooSmall = (request: string) =>
      request === 'POST /upload/image' ? { status: 413 } : undefined
    first.intercept = tooSmall
    assert.equal((await render(deps, id))?.results.length, 1)
    assert.deepEqual(await seeWay(id), ['1 too_large', '2 open'])
    const [{ detail } = assert.fail()] = await seePlacements(place, id)
    assert.match(detail ?? '', /--max-upload-size/)
    assert.equal((await see(place.database, id)).failures, 0)
    second.intercept = tooSmall
    const other = await insert()
    await assert.rejects(render(deps, other), forGood('upstream_rejected'))
    assert.deepEqual(new Set(await seeEnds(place, other)), new Set(['too_large']))
  })

  test('is cancelled where an instance takes a part of its graph alone', async (t) => {
    const { deps, fakes, id } = await start(t)
    for (const fake of fakes) fake.hold()
    const fleet = { ...deps.fleet, templates: deps.fleet.templates.map(addInvalidOutput) }
    await assert.rejects(render({ ...deps, fleet }, id), forGood('upstream_rejected'))
    assert.deepEqual(await seeWay(id), ['1 rejected', '2 rejected'])
    const [{ detail } = assert.fail()] = await seePlacements(place, id)
    assert.equal(
      detail,
      'node 20 "Blur" ImageBlur, blur_radius (an integer): value_bigger_than_max',
    )
    assert.equal((await see(place.database, id)).failures, 0)
    for (const fake of fakes) {
      assert.equal(fake.prompted.length, 1, 'the valid part was taken')
      await waitFor('its end', async () => {
        const { queue_running: running, queue_pending: pending } = await makeBareClient(
          fake.url,
        ).queue()
        return running.length + pending.length === 0
      })
    }
  })

  for (const [what, spoil] of [
    ['damaged', (path: string) => writeFileSync(path, 'no picture')],
    ['gone', rmSync],
  ] as const) {
    /** Spoils what was uploaded for the first prompt. */
    const spoilOnce = (fake: FakeComfy): void => {
      fake.intercept = (request) => {
        if (request !== 'POST /prompt') return undefined
        for (const path of inputsOf(fake)) spoil(path)
        fake.intercept = undefined
        return undefined
      }
    }

    test(`is uploaded elsewhere when its picture is ${what}, which is an attempt`, async (t) => {
      const { deps, first, id } = await start(t)
      spoilOnce(first)
      await assert.rejects(render(deps, id), again('attempt_failed'))
      assert.equal((await render(deps, id))?.results.length, 1)
      assert.deepEqual(await seeWay(id), ['1 input_missing', '2 open'])
      assert.equal((await see(place.database, id)).failures, 1)
    })

    test(`is uploaded again to a single instance when its picture is ${what}`, async (t) => {
      const { deps, first, id } = await start(t, [{}])
      spoilOnce(first)
      await assert.rejects(render(deps, id), again('attempt_failed'))
      assert.equal((await render(deps, id))?.results.length, 1)
      assert.deepEqual(await seeEnds(place, id), ['input_missing', 'open'])
    })
  }

  test('goes where its template ran last, also behind one prompt more', async (t) => {
    for (const prompts of [0, 1]) {
      const { deps, second, names, id } = await start(t)
      await remember(names[0], 'relight')
      await remember(names[1], 'upscale')
      await crowd(second, prompts)
      second.hold()
      const rendering = render(deps, id)
      await waitFor('its prompt', () => second.prompted.length === prompts + 1)
      second.release()
      await rendering
      assert.deepEqual(await seeWay(id), ['2 open'])
    }
  })

  test('goes elsewhere when prompts of others are in the way there', async (t) => {
    const { deps, second, names, id } = await start(t)
    await remember(names[0], 'relight')
    await remember(names[1], 'upscale')
    second.hold()
    await crowd(second, 2)
    assert.equal((await render(deps, id))?.results.length, 1)
    assert.deepEqual(await seeWay(id), ['1 open'])
  })

  /** Starts a task on each instance, which stays there while it is held. */
  const occupy = async (fleet: Awaited<ReturnType<typeof start>>) => {
    const { deps, first, second, insert, names } = fleet
    const rendered: ReturnType<typeof render>[] = []
    for (const [index, fake] of [first, second].entries()) {
      fake.hold()
      rendered.push(render(deps, await insert()))
      await waitFor('its prompt', () => fake.prompted.length === 1)
      // The next one is drawn to neither.
      await remember(names[index] ?? '', 'relight')
    }
    return rendered
  }

  /** Ids of the prompts that an instance has. */
  const queueOf = async ({ url }: FakeComfy): Promise<string[]> => {
    const queue = await makeBareClient(url).queue()
    return [...queue.queue_running, ...queue.queue_pending].map(([, id]) => id)
  }

  test('moves from behind a long prompt to an instance that is idle, which is no attempt', async (t) => {
    const fleet = await start(t, [{}, {}], { loadMs: 0 })
    const { deps, first, second, id } = fleet
    const [long, short] = await occupy(fleet)
    const rendered = render(deps, id)
    await waitFor('it is pending', () => first.prompted.length === 2)
    second.release()
    assert.equal((await rendered)?.results.length, 1)
    assert.deepEqual(await seeWay(id), ['1 moved', '2 open'])
    const placements = await seePlacements(place, id)
    assert.deepEqual(await queueOf(first), first.prompted.slice(0, 1), 'the long one runs on')
    assert.equal(await makeBareClient(first.url).history(placements[0]?.id ?? ''), undefined)
    assert.deepEqual(second.prompted.slice(1), [placements[1]?.id])
    assert.equal((await see(place.database, id)).failures, 0)
    first.release()
    await Promise.all([long, short])
  })

  test('moves as the first of several that wait, and the others after it, each once', async (t) => {
    const fleet = await start(t, [{}, {}], { loadMs: 0, depth: 3 })
    const { deps, first, second, insert } = fleet
    const held = await occupy(fleet)
    const ids = await Promise.all([insert(), insert(), insert(), insert()])
    const rendered = ids.map((id) => render(deps, id))
    await waitFor('all wait', () => first.prompted.length + second.prompted.length === 6)
    second.release()
    await Promise.all(rendered)
    const ways = await Promise.all(ids.map(async (id) => (await seeWay(id)).join()))
    const moved = '1 moved,2 open'
    assert.deepEqual(ways.toSorted(), [moved, moved, '2 open', '2 open'])
    assert.deepEqual(await queueOf(first), first.prompted.slice(0, 1))
    first.release()
    await Promise.all(held)
  })

  test('leaves an instance with its models for one that loads them in less than it has waited', async (t) => {
    const { deps, second, names, id } = await start(t, [{}, {}], { loadMs: 1 })
    await remember(names[0], 'relight')
    await remember(names[1], 'upscale')
    second.hold()
    await crowd(second, 1)
    assert.equal((await render(deps, id))?.results.length, 1)
    assert.deepEqual(await seeWay(id), ['2 moved', '1 open'])
    const [found] = (await listInstanceDetails(place.deps.sql)).filter(
      ({ name }) => name === names[1],
    )
    assert.equal(found?.template, null, 'it has not run there')
  })

  test('stays where it is when its prompt has begun before it is taken out', async (t) => {
    const fleet = await start(t, [{}, {}], { loadMs: 0 })
    const { deps, first, second, id } = fleet
    const held = await occupy(fleet)
    const rendered = render(deps, id)
    await waitFor('it is pending', () => first.prompted.length === 2)
    first.intercept = (request) => {
      if (request !== 'POST /queue') return undefined
      first.release()
      return { status: 200 }
    }
    second.release()
    assert.equal((await rendered)?.results.length, 1)
    assert.deepEqual(await seeWay(id), ['1 open'])
    assert.equal(second.prompted.length, 1)
    await Promise.all(held)
  })

  test('goes on where it was when its worker has died in a move', async (t) => {
    const { deps, first, names, id } = await start(t)
    first.hold()
    await crowd(first, 1)
    await remember(names[0], 'upscale')
    await renderAndStop(deps, id, () => first.prompted.length === 2)
    const [sent] = await seePlacements(place, id)
    const [{ fence } = assert.fail()] = await place.deps.sql<{ fence: number }[]>`
      select fence from task where id = ${id}
    `
    const template = { name: 'upscale', version: '' }
    const at = { instance: { name: names[1], url: '' }, template, inputs: [], depth: 1 }
    await place.deps.sql.begin((sql) =>
      insertPlacement(sql, { id: randomUUID(), task: { id, fence }, ...at, isReserved: true }),
    )
    await makeBareClient(first.url).post('/queue', { delete: [sent?.id] })
    first.release()
    assert.equal((await render(deps, id))?.results.length, 1)
    assert.deepEqual(await seeWay(id), ['1 open', '2 moved'])
  })

  test('is given to an instance as often as its own depth allows', async (t) => {
    const { deps, first, second, id, insert } = await start(t)
    const [one] = deps.fleet.instances
    if (one) one.depth = 1
    first.hold()
    second.hold()
    const ids = [id, await insert(), await insert()]
    const rendered = ids.map((id) => render(deps, id))
    await waitFor('all are there', () => first.prompted.length + second.prompted.length === 3)
    assert.deepEqual([first.prompted.length, second.prompted.length], [1, 2])
    const last = await insert()
    const waiting = render(deps, last)
    await waitFor(
      'it waits',
      async () => (await waitOf(last)) !== undefined && (await waitOf(last)) !== null,
    )
    first.release()
    second.release()
    await Promise.all([...rendered, waiting])
  })

  test('is counted with its seconds, and with the change of models', async (t) => {
    const { deps, names, id, insert } = await start(t, [{ nodeMs: 20 }])
    const metrics = makeMetrics()
    await render({ ...deps, metrics }, id)
    await remember(names[0], 'relight')
    await render({ ...deps, metrics }, await insert())
    const text = await metrics.registry.metrics()
    const valueOf = (series: string): number =>
      Number(
        text
          .split('\n')
          .find((line) => line.startsWith(`kiln_comfyui_${series} `))
          ?.split(' ')[1],
      )
    const on = `comfyui_instance="${names[0]}"`
    assert.equal(valueOf(`placement_duration_seconds_count{${on},end="done"}`), 2)
    assert.equal(valueOf(`model_switches_total{${on}}`), 1)
    for (const name of ['wait', 'run'])
      assert.equal(valueOf(`${name}_seconds_count{template="upscale"}`), 2)
    assert.ok(valueOf(`run_seconds_sum{template="upscale"}`) >= 0.1, 'five nodes of 20 ms')
  })
})

describe('the keeper of a fleet', () => {
  const find = async (name: string) =>
    (await listInstanceDetails(place.deps.sql)).find((instance) => instance.name === name)

  test('records the models of each instance, in which they are found by file and folder', async (t) => {
    const { keep, names, second } = await start(t, [
      {},
      { models: ['big\\kiln-x4.safetensors', 'kiln-tiny-x2.safetensors'] },
    ])
    await keep()
    const { sql } = place.deps
    const file = 'kiln-tiny-x2.safetensors'
    const asked = [
      { file, folder: 'upscale_models' },
      { file: 'big\\kiln-x4.safetensors' },
      { file: 'kiln-x4.safetensors' },
      { file: 'kiln-x4.safetensors', folder: 'vae' },
    ]
    const found = async () =>
      [...(await findModelInstances(sql, asked))]
        .map(([one, having]) => [one, having.filter((name) => names.includes(name))] as const)
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
    assert.deepEqual(await found(), [
      ['big\\kiln-x4.safetensors', [names[1]]],
      [file, [...names].toSorted()],
    ])
    assert.deepEqual([...(await findModelInstances(sql, [{ file, folder: 'vae' }]))], [])
    second.models.length = 0
    await sql`update instance set seen_at = seen_at - interval '1 minute'`
    await keep()
    assert.equal((await found()).length, 2, 'it reads them no sooner than in some minutes')
  })

  test('records what each instance can run, and what is missing', async (t) => {
    const { deps, keep, names, second } = await start(t, [
      {},
      { without: ['ImageSharpen'], models: [] },
    ])
    await keep()
    const [one, two] = [await find(names[0]), await find(names[1])]
    assert.deepEqual([one?.version, one?.state, two?.state], ['0.3.64', 'ready', 'ready'])
    const { version, ...upscale } = one?.abilities?.['upscale'] ?? assert.fail()
    assert.deepEqual(upscale, { models: [], warnings: [], model_files: [], issues: [] })
    assert.equal(version, deps.fleet.templates.find(({ name }) => name === 'upscale')?.version)
    const { version: _, ...model } = one?.abilities?.['custom/upscale-model'] ?? assert.fail()
    const file = 'kiln-tiny-x2.safetensors'
    const files = [{ file, folder: 'upscale_models' }]
    assert.deepEqual(model, { models: [file], warnings: [], model_files: files, issues: [] })
    assert.deepEqual(two?.abilities?.['upscale']?.issues, [
      'node 4 "Sharpen": there is no class ImageSharpen',
    ])
    assert.match(
      two?.abilities?.['custom/upscale-model']?.issues[0] ?? '',
      /has no choice kiln-tiny/,
    )
    const requests = second.requests.length
    await keep()
    assert.deepEqual(
      second.requests.slice(requests).filter((request) => request.includes('object_info')),
      [],
      'not read again within half a minute',
    )
  })

  test('records texts with NUL and halves of characters as the database takes them', async (t) => {
    const { deps, keep, names, first, id } = await start(t, [{ version: '0.3.64\0\ud800' }])
    const error = { type: 'invalid_prompt', message: `no \0 class ${'😀'.repeat(400)}` }
    first.intercept = (request) =>
      request === 'POST /prompt' ? { status: 400, body: JSON.stringify({ error }) } : undefined
    const environment = makeEnvironment()
    const rendered = render(deps, id, { environment })
    await waitFor('it was rejected', async () => (await seeEnds(place, id)).includes('unable'))
    await keep()
    const found = await find(names[0])
    assert.equal(found?.version, '0.3.64\u{fffd}\u{fffd}')
    assert.match(
      found.abilities?.['upscale']?.issues[0] ?? '',
      /^invalid_prompt: no \u{fffd} class/u,
    )
    stopRun(environment)
    await assert.rejects(rendered, again('worker_stopped'))
  })

  test('says that nothing is loaded once an instance has restarted, or has freed its memory', async (t) => {
    const { keep, deps, names, first, id, insert } = await start(t, [{}])
    const loaded = async () => (await find(names[0]))?.template
    await keep()
    await render(deps, id)
    assert.equal(await loaded(), 'upscale')
    await first.restart()
    await keep()
    assert.equal(await loaded(), null)
    first.faults.push('oom')
    await assert.rejects(render(deps, await insert()), again('attempt_failed'))
    assert.equal(await loaded(), null)
  })

  test('says at its first turn which instance does not respond, once, and when it does', async (t) => {
    const { deps, first, names } = await start(t, [{}])
    const logged: [object, string][] = []
    const warn = (facts: object, message: string) => void logged.push([facts, message])
    const log = { ...deps.log, warn } as typeof deps.log
    const keep = () => keepFleet({ ...deps, log })
    const said = () => logged.filter(([, message]) => /respond/.test(message))
    const { url } = first
    await first.kill()
    await waitFor('it is said', async () => {
      await keep()
      return said().length > 0
    })
    await keep()
    await first.start()
    await waitFor('it responds', async () => {
      await keep()
      return said().length > 1
    })
    await keep()
    const detail = 'no connection could be made: the port is closed'
    const facts = { instance: names[0], address: url }
    assert.deepEqual(said(), [
      [{ ...facts, detail }, 'an instance does not respond: start it, or correct COMFYUI_URLS'],
      [{ ...facts, detail: undefined }, 'an instance responds again'],
    ])
  })

  test('records that an instance stands still, and that it is gone', async (t) => {
    const { deps, names, first } = await start(t, [{}], { stallMs: 200, lostMs: 200 })
    const logged: string[] = []
    const error = (_facts: object, message: string) => void logged.push(message)
    const log = { ...deps.log, error } as typeof deps.log
    const keep = () => keepFleet({ ...deps, log })
    first.hold()
    await crowd(first, 1)
    await waitFor('it stands still', async () => {
      await keep()
      return (await find(names[0]))?.state === 'stalled'
    })
    await first.kill()
    await waitFor('it is gone', async () => {
      await keep()
      return (await find(names[0]))?.state === 'gone'
    })
    await keep()
    assert.deepEqual(logged, ['an instance does not respond: start it, or correct COMFYUI_URLS'])
  })
})
