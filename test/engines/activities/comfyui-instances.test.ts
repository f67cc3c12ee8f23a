import assert from 'node:assert/strict'
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'

import { makeKeepInstances } from '../../../activities/engines/keep-instances.ts'
import { keepFleet } from '../../../activities/engines/comfyui-keeper.ts'
import type { ComfyDependencies } from '../../../activities/engines/dependencies.ts'
import { makeReadInstances, type Resolve } from '../../../src/engines/comfyui/sources.ts'
import { listInstanceDetails } from '../../../src/engines/db/fleet.ts'
import { insertPlacement } from '../../../src/engines/db/placement.ts'
import { readFleetItem } from '../../../src/engines/domain/fleet-item.ts'
import { makeMetrics } from '../../../src/platform/process/metrics.ts'
import { startFakeComfy, type FakeComfy } from '../../support/comfyui/fake.ts'
import { waitFor } from '../../support/wait.ts'
import { see, usePlace } from '../../tasks/activities/place.ts'
import { render, renderAndStop, startFleet } from './comfyui-place.ts'
import { seePlacements } from './placements.ts'

const place = usePlace()
let fleets = 0

/** Two instances that no worker knows yet, and workers that follow `items`. */
const start = async (t: TestContext, times: Parameters<typeof startFleet>[3] = {}) => {
  const name = `followed-${(fleets += 1)}`
  const fleet = await startFleet(place, name, [{}, {}], times)
  t.after(fleet.close)
  const logged: object[] = []
  const error = (facts: object) => void logged.push(facts)
  /** A worker as it starts, with a turn of following its sources, and one of looking after what it knows. */
  const startWorker = async (items: string, resolve?: Resolve) => {
    const made = fleet.makeWorker()
    const log = { ...made.log, error } as typeof made.log
    const metrics = makeMetrics()
    const own = { ...made.fleet, instances: [] }
    const deps: ComfyDependencies = { ...made, log, metrics, fleet: own }
    const read = makeReadInstances(
      items.split(',').flatMap((item) => readFleetItem(item).item ?? assert.fail(item)),
      resolve,
    )
    const follow = makeKeepInstances(deps, {
      read,
      open: fleet.open,
      depth: 2,
      setting: 'COMFYUI_URLS',
      engine: null,
    })
    await follow()
    t.after(() => {
      for (const { client } of deps.fleet.instances) client.close()
    })
    return { deps, follow, keep: () => keepFleet(deps) }
  }
  const path = join(place.root, name)
  return {
    ...fleet,
    name,
    logged,
    startWorker,
    source: `file:${path}`,
    /** Replaces the file of instances. */
    write: async (...lines: string[]) => {
      await writeFile(`${path}.new`, lines.join('\n'))
      await rename(`${path}.new`, path)
    },
    one: fleet.fakes[0] as FakeComfy,
    two: fleet.fakes[1] as FakeComfy,
  }
}

const find = async (name: string) =>
  (await listInstanceDetails(place.deps.sql)).find((instance) => instance.name === name)

/** Instances of this test with their depths: a worker also knows those that placements of others name. */
const depths = ({ fleet }: ComfyDependencies, own: string) =>
  fleet.instances
    .filter(({ name }) => name.includes(own))
    .map(({ name, url, depth }) => [name, url, depth])

/** Has what placements have left removed. A keeper of a test beside this one may have taken that, and be at it. */
const clean = async (keep: () => Promise<void>, name: string): Promise<true> =>
  await waitFor('nothing is left there', async () => {
    await keep()
    const left = await place.deps.sql`
      select from placement p join task t on t.id = p.task_id
      where p.instance = ${name} and p.cleaned_at is null and t.ended_at is not null
    `
    return left.length === 0
  })

const endsOf = async (id: string) =>
  (await seePlacements(place, id)).map(({ instance, state }) => [
    instance,
    // A keeper of another test beside this one cleans what has ended.
    state === 'done' ? 'open' : state,
  ])

describe('a fleet whose instances come from a file', { concurrency: true }, () => {
  test('gains and loses instances while tasks run, which stay until they end', async (t) => {
    const { one, two, name, insert, source, write, startWorker } = await start(t)
    const [a, b] = [`${name}-a`, `${name}-b`]
    await write('# our machines', '', `${a}=${one.url}|depth=1 # the old one`)
    const { deps, follow, keep } = await startWorker(source)
    assert.deepEqual(depths(deps, name), [[a, one.url, 1]])
    one.hold()
    const [first, second] = [await insert(), await insert()]
    const rendered = render(deps, first)
    await waitFor('it is there', () => one.prompted.length === 1)
    await write(`${b}=${two.url}`)
    await follow()
    assert.deepEqual(depths(deps, name), [
      [a, one.url, 0],
      [b, two.url, 2],
    ])
    await keep()
    const { state, tasks } = (await find(a)) ?? assert.fail()
    assert.deepEqual([state, tasks.length], ['draining', 1])
    assert.equal((await render(deps, second))?.results.length, 1)
    one.release()
    assert.equal((await rendered)?.results.length, 1)
    assert.deepEqual([await endsOf(first), await endsOf(second)], [[[a, 'open']], [[b, 'open']]])
    await clean(keep, a)
    for (const turn of ['it is dropped', 'and forgotten']) {
      await follow()
      assert.deepEqual(depths(deps, name), [[b, two.url, 2]], turn)
    }
    assert.equal(await find(a), undefined)
    const shown = (await deps.metrics?.registry.metrics()) ?? ''
    const ofInstances = [...shown.matchAll(/duration_seconds_count\{comfyui_instance="(.*?)"/g)]
    assert.deepEqual(
      ofInstances.map(([, instance]) => instance),
      [b],
      'metrics forget it, too',
    )
    assert.deepEqual([one.prompted.length, two.prompted.length], [1, 1])
  })

  test('wakes a task that waits when its first instance comes', async (t) => {
    const { one, name, insert, source, write, startWorker } = await start(t)
    await write('')
    const { deps, follow } = await startWorker(source)
    const id = await insert()
    const rendered = render(deps, id)
    await waitFor('it waits', async () => {
      const [row] = await place.deps.sql`select waits_for from task where id = ${id}`
      return row?.['waits_for']?.[0] === 'COMFYUI_URLS names no instance now'
    })
    await write(`${name}-a=${one.url}`)
    await follow()
    assert.equal((await rendered)?.results.length, 1)
    assert.equal((await see(place.database, id)).failures, 0)
  })

  test('gives a name to another address once nothing of a placement is at the first one', async (t) => {
    const { one, two, name, insert, source, write, startWorker, logged } = await start(t)
    await write(`${name}=${one.url}`)
    const { deps, follow, keep } = await startWorker(source)
    one.hold()
    const [first, second] = [await insert(), await insert()]
    const rendered = render(deps, first)
    await waitFor('it is there', () => one.prompted.length === 1)
    await write(`${name}=${two.url}`)
    await follow()
    await follow()
    assert.deepEqual(depths(deps, name), [[name, one.url, 0]])
    assert.deepEqual(logged, [
      { item: name, issue: 'its name leads to its earlier address until no placement is there' },
    ])
    const other = await startWorker(source)
    assert.deepEqual(
      depths(other.deps, name),
      [[name, one.url, 0]],
      'also of a worker that starts now',
    )
    one.release()
    assert.equal((await rendered)?.results.length, 1)
    await clean(keep, name)
    await follow()
    assert.deepEqual(depths(deps, name), [[name, two.url, 2]])
    assert.equal((await render(deps, second))?.results.length, 1)
    assert.deepEqual([one.prompted.length, two.prompted.length], [1, 1])
    await assert.rejects(
      place.deps.sql.begin(async (sql) => {
        const late = {
          id: first,
          task: { id: second, fence: 0 },
          template: { name: '', version: '' },
          inputs: [],
          depth: 9,
        }
        const instance = { name, url: one.url }
        assert.equal(await insertPlacement(sql, { ...late, instance }), false)
        throw new Error('a worker that has the earlier address places nothing')
      }),
      /places nothing/,
    )
  })

  test('frees the name of an instance that is gone for good, whose task goes on at the next', async (t) => {
    const { one, two, name, insert, source, write, startWorker } = await start(t, { lostMs: 300 })
    await write(`${name}=${one.url}`)
    const { deps, follow, keep } = await startWorker(source)
    one.hold()
    const id = await insert()
    const rendered = render(deps, id)
    await waitFor('it is there', () => one.prompted.length === 1)
    await write(`${name}=${two.url}`)
    await one.kill()
    await waitFor('the name is free', async () => {
      await follow()
      await keep()
      return depths(deps, name)[0]?.[1] === two.url
    })
    assert.equal((await rendered)?.results.length, 1)
    assert.deepEqual(await endsOf(id), [
      [name, 'unreachable'],
      [name, 'open'],
    ])
    assert.equal((await see(place.database, id)).failures, 0)
  })

  test('follows a task at an instance that went while its worker was away', async (t) => {
    const { one, two, name, insert, startWorker } = await start(t)
    const [a, b] = [`${name}-a`, `${name}-b`]
    const before = await startWorker(`${a}=${one.url}`)
    one.hold()
    const id = await insert()
    await renderAndStop(before.deps, id, () => one.prompted.length === 1)
    const { deps } = await startWorker(`${b}=${two.url}`)
    assert.ok(
      depths(deps, name).some(([name, url, depth]) => name === a && url === one.url && depth === 0),
    )
    const rendered = render(deps, id)
    one.release()
    assert.equal((await rendered)?.results.length, 1)
    assert.deepEqual([one.prompted.length, two.prompted.length], [1, 0], 'rendered once')
  })

  test('is forgotten only by a worker whose own sources have named it', async (t) => {
    const { one, two, name, insert, startWorker } = await start(t)
    const { deps, keep } = await startWorker(`${name}=${one.url}`)
    one.hold()
    const rendered = render(deps, await insert())
    await waitFor('it is there', () => one.prompted.length === 1)
    const other = await startWorker(`${name}-b=${two.url}`)
    assert.equal(depths(other.deps, name).length, 2, 'a placement names it')
    one.release()
    await rendered
    await place.deps.sql`update instance set drained_at = now() where name = ${name}`
    await clean(keep, name)
    for (const _ of ['it is dropped', 'and would be forgotten']) await other.follow()
    assert.deepEqual(depths(other.deps, name), [[`${name}-b`, two.url, 2]])
    assert.equal((await find(name))?.is_drained, true)
  })

  test('stays as it was while its file is away or wrong, and says which line is', async (t) => {
    const { one, two, name, source, write, startWorker, logged } = await start(t)
    const { deps, follow } = await startWorker(source)
    assert.deepEqual(depths(deps, name), [])
    assert.match(JSON.stringify(logged), /ENOENT/)
    await write(`${name}=${one.url}`)
    await follow()
    await write(`${name}=${one.url}`, '', `${name}-b ${two.url}`)
    await follow()
    await follow()
    assert.deepEqual(depths(deps, name), [[name, one.url, 2]])
    const issue = `line 3 must be a name with an address such as gpu1=http://10.0.0.5:8188`
    assert.equal(logged.length, 2)
    assert.match(JSON.stringify(logged[1]), new RegExp(`${issue}.*, got ${name}-b `))
    await write(`${name}=${one.url}`, `${name}=${two.url}`)
    await follow()
    assert.deepEqual(depths(deps, name), [[name, one.url, 2]])
    assert.deepEqual(logged[2], { item: name, issue: 'it names two addresses' })
  })
})

describe('a fleet whose instances are the addresses of a name', { concurrency: true }, () => {
  test('has each of them, and those alone that it resolves to now', async (t) => {
    const { insert, startWorker, logged } = await start(t)
    const one = await startFakeComfy()
    const { port } = new URL(one.url)
    const two = await startFakeComfy({ host: '127.0.0.2', port: Number(port) })
    t.after(() => Promise.all([one.close(), two.close()]))
    let addresses: string[] | { code: string } = ['127.0.0.1']
    const resolve = (host: string): Promise<string[]> => {
      assert.equal(host, 'comfy.internal')
      return Array.isArray(addresses)
        ? Promise.resolve(addresses)
        : Promise.reject(Object.assign(new Error('the name server is away'), addresses))
    }
    const { deps, follow, keep } = await startWorker(`dns:comfy.internal:${port}|depth=1`, resolve)
    const [first, second] = [`127.0.0.1:${port}`, `127.0.0.2:${port}`]
    assert.deepEqual(depths(deps, port), [[first, one.url, 1]])
    addresses = ['127.0.0.2', '127.0.0.1', '::1']
    await follow()
    assert.deepEqual(depths(deps, port), [
      [first, one.url, 1],
      [second, two.url, 1],
      [`[::1]:${port}`, `http://[::1]:${port}`, 1],
    ])
    addresses = ['127.0.0.2', '127.0.0.1']
    await follow()
    one.hold()
    two.hold()
    const ids = [await insert(), await insert()]
    const rendered = ids.map((id) => render(deps, id))
    await waitFor('both are there', () => one.prompted.length + two.prompted.length === 2)
    addresses = { code: 'EAI_AGAIN' }
    await follow()
    const outage = 'an outage of the name server takes none away'
    assert.deepEqual(
      depths(deps, port).map(([, , depth]) => depth),
      [1, 1],
      outage,
    )
    assert.deepEqual(logged, [
      { item: `dns:comfy.internal:${port}`, issue: 'the name server is away' },
    ])
    // As of a service that is scaled to none.
    addresses = { code: 'ENOTFOUND' }
    await follow()
    assert.deepEqual(
      depths(deps, port).map(([, , depth]) => depth),
      [0, 0],
    )
    one.release()
    two.release()
    for (const end of await Promise.all(rendered)) assert.equal(end?.results.length, 1)
    for (const instance of [first, second]) await clean(keep, instance)
    await follow()
    await follow()
    assert.deepEqual(depths(deps, port), [])
    assert.equal(await find(first), undefined)
  })
})
