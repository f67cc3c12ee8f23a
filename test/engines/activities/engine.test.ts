import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { describe, test, type TestContext } from 'node:test'
import { isDeepStrictEqual } from 'node:util'

import sharp from 'sharp'

import { keepEngine } from '../../../activities/engines/engine-keeper.ts'
import { findPrediction, recordPrediction } from '../../../src/engines/db/prediction.ts'
import { findFile } from '../../../src/tasks/db/file.ts'
import { NO_INSTANCE, SILENT } from '../../../src/tasks/domain/waits-for.ts'
import type { startFakeCog } from '../../support/cog/fake.ts'
import { makePicture } from '../../support/pictures.ts'
import { cancelTasks } from '../../support/task-rows.ts'
import { waitFor } from '../../support/wait.ts'
import {
  again,
  cancelRun,
  forGood,
  makeEnvironment,
  see,
  stopRun,
  usePlace,
} from '../../tasks/activities/place.ts'
import {
  TOKEN,
  render,
  renderAndStop,
  renderToEnd,
  startEngine,
  type EngineOptions,
} from './engine-place.ts'
import { seeEnds, seePlacements } from './placements.ts'

const place = usePlace()
let engines = 0

/** An engine of a test alone. */
const start = async (
  t: TestContext,
  given: readonly (Parameters<typeof startFakeCog>[0] & {})[] = [{}],
  options: EngineOptions = {},
) => {
  const engine = await startEngine(place, `engine${(engines += 1)}`, given, options)
  t.after(engine.close)
  return { ...engine, id: await engine.insert() }
}

/** Begins an attempt whose prediction stays under way. */
const renderHeld = async (
  { deps, first, id }: Pick<Awaited<ReturnType<typeof start>>, 'deps' | 'first' | 'id'>,
  environment = makeEnvironment(),
) => {
  first.hold()
  const rendered = render(deps, id, { environment })
  await waitFor('it runs', () => first.running().length === 1)
  return { rendered }
}

/** A picture of 600,000 bytes. */
const makeNoise = (): Promise<Buffer> =>
  sharp(randomBytes(450 * 450 * 3), { raw: { width: 450, height: 450, channels: 3 } })
    .png()
    .toBuffer()

/** Time-outs that are to pass. */
const SHORT = { quietMs: 20, lateMs: 50 }
const PAIR = [{}, {}]

describe('an image task of an engine', { concurrency: true }, () => {
  test('is sent with its files and values, and what it made is stored', async (t) => {
    const { deps, first, id, keep } = await start(t)
    const rendered = await render(deps, id)
    const [result] = rendered?.results ?? []
    assert.deepEqual([result?.contentType, result?.width, result?.height], ['image/png', 32, 32])
    const [placement] = await seePlacements(place, id)
    const [begun] = first.begun
    assert.equal(begun?.id, placement?.id)
    assert.deepEqual(Object.keys(begun?.input ?? {}), ['scale', 'image'])
    assert.equal(begun?.input['scale'], 2)
    const [type = '', data = ''] = String(begun?.input['image']).split(',')
    assert.equal(type, 'data:image/png;base64')
    assert.equal((await sharp(Buffer.from(data, 'base64')).metadata()).width, 16)
    const put = first.requests.find(({ route }) => route.startsWith('PUT'))
    assert.equal(put?.headers['prefer'], 'respond-async')
    assert.equal(put?.headers['authorization'], `Bearer ${TOKEN}`)
    await keep()
    const cleaned = await seePlacements(place, id)
    assert.deepEqual(
      cleaned.map(({ state, cleaned }) => [state, cleaned]),
      [['done', true]],
    )
  })

  for (const isSynchronous of [false, true])
    test(`is sent a large input as ${isSynchronous ? 'it is where its engine cannot reach the service' : 'a link'}`, async (t) => {
      const { deps, first, id } = await start(t, [{}], { isSynchronous })
      const file = join(place.root, randomUUID())
      await writeFile(file, await makeNoise())
      await place.deps.storage.putFile(`inputs/${id}/image.png`, file)
      assert.equal((await render(deps, id))?.results.length, 1)
      const image = String(first.begun[0]?.input['image'])
      if (isSynchronous) return assert.match(image, /^data:image\/png;base64,/)
      const own = place.deps.signer.parseOwnLink(image, new Date())
      assert.ok(typeof own === 'object', image)
      const found = await findFile(place.deps.sql, own)
      assert.equal(found?.storage_key, `inputs/${id}/image.png`)
    })

  test('ends with the response to its request where the engine cannot reach the service', async (t) => {
    const { deps, first, id, receiver } = await start(t, [{}], { isSynchronous: true })
    assert.equal((await render(deps, id))?.results.length, 1)
    assert.equal(first.begun[0]?.webhook, undefined)
    assert.equal(
      first.requests.find(({ route }) => route.startsWith('PUT'))?.headers['prefer'],
      undefined,
    )
    assert.deepEqual(receiver.statuses, [])
  })

  test('shows how far it is by the logs of its prediction', async (t) => {
    const { deps, first, id } = await start(t)
    first.hold()
    first.outcomes.push({ logs: ' 10%|#  | 1/10\r 40%|## | 4/10\n' })
    const rendered = render(deps, id)
    await waitFor('progress of the row', async () => {
      const [row] = await place.deps.sql`select progress from task where id = ${id}`
      return Number(row?.['progress']) === 40
    })
    const [placement] = await seePlacements(place, id)
    const seen = await findPrediction(place.deps.sql, placement?.id ?? '')
    assert.equal(seen?.logs, ' 40%|## | 4/10\n')
    first.release()
    assert.equal((await rendered)?.results.length, 1)
  })

  test('has several results, files of the engine’s own address and texts', async (t) => {
    const { deps, first, id } = await start(t, [
      {
        output: {
          type: 'object',
          properties: {
            small: { type: 'string', format: 'uri' },
            words: {
              type: 'array',
              items: { type: 'string' },
              'x-cog-array-display': 'concatenate',
            },
          },
        },
      },
    ])
    first.files['/files/small.png'] = await makePicture({ width: 8, height: 8 })
    first.outcomes.push({ output: { small: `${first.url}/files/small.png`, words: ['a', ' b'] } })
    const rendered = await render(deps, id)
    assert.deepEqual(
      rendered?.results.map(({ name, width }) => [name, width]),
      [
        ['small.png', 8],
        ['words.txt', null],
      ],
    )
    const { storageKey = '' } = rendered?.results[1] ?? {}
    const { stream } = await place.deps.storage.open(storageKey)
    assert.equal((await buffer(stream)).toString(), 'a b')
    const fetched = first.requests.find(({ route }) => route === 'GET /files/small.png')
    assert.equal(fetched?.headers['authorization'], `Bearer ${TOKEN}`)
  })

  test('fails an attempt where its output is at an address that nobody may call', async (t) => {
    const { deps, first, id } = await start(t)
    first.outcomes.push({ output: 'http://10.1.2.3/secret.png' })
    await assert.rejects(render(deps, id), again('attempt_failed'))
    assert.deepEqual(await seeEnds(place, id), ['failed'])
    assert.equal((await renderToEnd(deps, id))?.results.length, 1)
  })

  test('fails after three attempts whose predictions fail, with the reason in the log alone', async (t) => {
    const { deps, first, id } = await start(t)
    first.outcomes.push(
      ...Array.from({ length: 3 }, () => ({ status: 'failed' as const, error: 'no\0good \ud800' })),
    )
    await assert.rejects(renderToEnd(deps, id), forGood('engine_failed'))
    const placements = await seePlacements(place, id)
    assert.deepEqual(
      placements.map(({ state, detail }) => [state, detail]),
      Array.from({ length: 3 }, () => ['failed', 'no\ufffdgood \ufffd']),
    )
  })

  test('fails at once by an error that its engine calls final', async (t) => {
    const { deps, first, id } = await start(t)
    first.outcomes.push({ status: 'failed', error: 'Final: there is no face' })
    await assert.rejects(render(deps, id), forGood('engine_failed'))
    assert.deepEqual(await seeEnds(place, id), ['final'])
    const [row] = await place.deps.sql`select engine_error, failures from task where id = ${id}`
    assert.deepEqual(row && { ...row }, { engine_error: 'Final: there is no face', failures: 0 })
  })

  test('says that it waits while its engine does not respond', async (t) => {
    const { deps, first, id } = await start(t, [{}], { quietMs: SHORT.quietMs })
    const { rendered } = await renderHeld({ deps, first, id })
    const untilWaits = async (reasons: string[] | null): Promise<unknown> =>
      await waitFor(`it waits for ${String(reasons)}`, async () => {
        const [row] = await place.deps.sql`select waits_for from task where id = ${id}`
        return isDeepStrictEqual(row?.['waits_for'], reasons)
      })
    first.files['/health-check'] = Buffer.from('gone')
    await untilWaits([SILENT])
    delete first.files['/health-check']
    await untilWaits(null)
    first.release()
    assert.equal((await rendered)?.results.length, 1)
    assert.deepEqual(await seeEnds(place, id), ['open'])
  })

  test('waits for an engine that is busy with other work, at no placement', async (t) => {
    const { deps, first, id } = await start(t)
    first.statuses.push(409)
    assert.equal((await render(deps, id))?.results.length, 1)
    assert.deepEqual(await seeEnds(place, id), ['open'])
    const { failures } = await see(place.database, id)
    assert.equal(failures, 0)
  })

  test('goes elsewhere at once where no connection can be made', async (t) => {
    const { deps, first, second, id } = await start(t, PAIR)
    await Promise.all(deps.fleet.instances.map((instance) => instance.readSchema()))
    await deps.fleet.instances[0]?.probe(performance.now())
    await first.stop()
    assert.equal((await render(deps, id))?.results.length, 1)
    assert.equal(second.begun.length, 1)
    assert.deepEqual(await seeEnds(place, id), ['open'])
    await first.start()
  })

  const REJECTED: [status: number, end: string, code: string][] = [
    [422, 'rejected', 'upstream_rejected'],
    [413, 'too_large', 'upstream_rejected'],
  ]
  for (const [status, end, code] of REJECTED)
    test(`ends as ${code} where all instances respond with ${status}`, async (t) => {
      const { deps, fakes, id } = await start(t, PAIR)
      for (const fake of fakes) fake.statuses.push(status)
      await assert.rejects(render(deps, id), forGood(code))
      assert.deepEqual(await seeEnds(place, id), [end, end])
      assert.equal((await see(place.database, id)).failures, 0)
    })

  test('is taken although its response was lost', async (t) => {
    const { deps, first, id } = await start(t)
    first.losesResponses = true
    assert.equal((await render(deps, id))?.results.length, 1)
    assert.equal(first.begun.length, 1)
  })

  test('keeps the status of a request that was not taken as the error of its placement', async (t) => {
    const { deps, first, id } = await start(t, [{}], SHORT)
    first.statuses.push(500)
    assert.equal((await render(deps, id))?.results.length, 1)
    const [lost] = await place.deps.sql`
      select state, detail from placement where task_id = ${id} order by at limit 1
    `
    assert.deepEqual([lost?.['state'], lost?.['detail']], ['lost', 'responded with status 500'])
  })

  test('is placed again, at no attempt, when the engine has restarted', async (t) => {
    const { deps, first, id } = await start(t, [{}], SHORT)
    const { rendered } = await renderHeld({ deps, first, id })
    await first.restart()
    await waitFor('it runs again', () => first.begun.length === 2)
    first.release()
    assert.equal((await rendered)?.results.length, 1)
    assert.deepEqual(await seeEnds(place, id), ['lost', 'open'])
    assert.equal((await see(place.database, id)).failures, 0)
  })

  test('goes elsewhere when the engine does not come back', async (t) => {
    const { deps, first, second, id } = await start(t, PAIR, { ...SHORT, lostMs: 50 })
    for (const fake of [first, second]) fake.hold()
    const rendered = render(deps, id)
    const [one, other] = await waitFor('it runs', () => {
      if (first.running().length === 1) return [first, second]
      return second.running().length === 1 ? [second, first] : undefined
    })
    await one?.stop()
    await waitFor('it runs elsewhere', () => other?.begun.length === 1)
    other?.release()
    assert.equal((await rendered)?.results.length, 1)
    assert.deepEqual(await seeEnds(place, id), ['unreachable', 'open'])
    await one?.start()
  })

  test('is asked for by the same request while it runs, and its end of before counts', async (t) => {
    const { deps, first, id } = await start(t, [{}], SHORT)
    first.losesWebhooks = true
    first.hold()
    first.outcomes.push({ logs: ' 70%|###| 7/10\n' })
    const rendered = render(deps, id)
    await waitFor('progress of the row', async () => {
      const [row] = await place.deps.sql`select progress from task where id = ${id}`
      return Number(row?.['progress']) === 70
    })
    assert.equal(first.begun.length, 1)
    first.losesWebhooks = false
    first.release()
    assert.equal((await rendered)?.results.length, 1)
    assert.equal(first.begun.length, 1)
  })

  test('is followed by the next worker, which sends nothing again', async (t) => {
    const { deps, first, id, makeWorker } = await start(t)
    first.hold()
    await renderAndStop(deps, id, () => first.running().length === 1)
    assert.equal(first.running().length, 1)
    const next = render(makeWorker(), id)
    first.release()
    assert.equal((await next)?.results.length, 1)
    assert.equal(first.begun.length, 1)
    assert.deepEqual(await seeEnds(place, id), ['open'])
  })

  test('keeps an end that came while no worker was there', async (t) => {
    const { deps, first, id, receiver, makeWorker } = await start(t)
    first.hold()
    await renderAndStop(deps, id, () => first.running().length === 1)
    const before = receiver.statuses.length
    first.release()
    await waitFor('its end has come', () => receiver.statuses.length > before)
    await first.restart()
    assert.equal((await render(makeWorker(), id))?.results.length, 1)
    assert.equal(first.begun.length, 1)
  })

  test('is placed again by the next worker where its end was to come with a response', async (t) => {
    const { deps, first, id, makeWorker } = await start(t, [{ concurrency: 2 }], {
      isSynchronous: true,
    })
    first.hold()
    await renderAndStop(deps, id, () => first.running().length === 1)
    const next = render(makeWorker(), id)
    await waitFor('it runs again', () => first.begun.length === 2)
    first.release()
    assert.equal((await next)?.results.length, 1)
    assert.deepEqual(await seeEnds(place, id), ['lost', 'open'])
  })

  test('goes back to its queue while a task has the only place that no worker follows', async (t) => {
    const { deps, first, id, insert, makeWorker } = await start(t, [{}], { yieldMs: 1 })
    first.hold()
    await renderAndStop(deps, id, () => first.running().length === 1)
    const other = await insert()
    assert.equal(await render(deps, other), undefined)
    const { waits_on: waitsOn, failures } = await see(place.database, other)
    assert.deepEqual([waitsOn, failures], ['turn', 0])
    const next = render(makeWorker(), id)
    first.release()
    assert.equal((await next)?.results.length, 1)
  })

  test('is put back once while its engine does not respond, and goes on when it does', async (t) => {
    const { deps, first, id, keep } = await start(t, [{}], { awayMs: 1 })
    const [instance = assert.fail()] = deps.fleet.instances
    await place.deps.sql`update task set engine = ${deps.fleet.name} where id = ${id}`
    await first.stop()
    assert.equal(await render(deps, id), undefined)
    await keep()
    assert.equal((await see(place.database, id)).waits_on, NO_INSTANCE)
    await first.start()
    await instance.probe(performance.now())
    await keep()
    const { waits_on: waitsOn, fence, failures } = await see(place.database, id)
    assert.deepEqual([waitsOn, fence, failures], ['turn', 1, 0])
  })

  test('waits for an engine whose silence is said at the first turn', async (t) => {
    const { deps, first } = await start(t, [{}], { lostMs: Infinity })
    const logged: string[] = []
    const warn = (facts: object, message: string) =>
      void logged.push(`${message}: ${(facts as { address: string }).address}`)
    const log = { ...deps.log, warn } as typeof deps.log
    const { url } = first
    await first.stop()
    await waitFor('it is said', async () => {
      await keepEngine({ ...deps, log })
      return logged.length > 0
    })
    assert.deepEqual(logged, [
      `an instance does not respond: start it, or correct ENGINES_HTTP: ${url}`,
    ])
  })

  test('is cancelled at its engine', async (t) => {
    const { deps, first, id } = await start(t)
    const environment = makeEnvironment()
    const { rendered } = await renderHeld({ deps, first, id }, environment)
    await cancelTasks(place.deps.sql, [id])
    cancelRun(environment)
    // It has read the row, or heard of the cancellation before that.
    assert.equal(await rendered.catch(() => undefined), undefined)
    await waitFor('nothing runs', () => first.running().length === 0)
    assert.ok(first.requests.some(({ route }) => route.endsWith('/cancel')))
  })

  test('runs again, at no attempt, where somebody has cancelled its prediction', async (t) => {
    const { deps, first, id } = await start(t)
    first.outcomes.push({ status: 'canceled' })
    assert.equal((await render(deps, id))?.results.length, 1)
    assert.deepEqual(await seeEnds(place, id), ['interrupted', 'open'])
    assert.equal((await see(place.database, id)).failures, 0)
  })

  for (const isSynchronous of [false, true])
    test(`fails where it is lost and nothing may be sent twice${isSynchronous ? ', held' : ''}`, async (t) => {
      const { deps, first, id } = await start(t, [{}], {
        ...SHORT,
        isSynchronous,
        resubmits: false,
      })
      const { rendered } = await renderHeld({ deps, first, id })
      await first.restart()
      await assert.rejects(rendered, forGood('engine_failed'))
      assert.equal(first.begun.length, 1)
    })

  test('may be sent again to an engine that nothing has reached, even where nothing may be sent twice', async (t) => {
    const { deps, first, id } = await start(t, [{}], { resubmits: false })
    await deps.fleet.instances[0]?.readSchema()
    first.statuses.push(409)
    assert.equal((await render(deps, id))?.results.length, 1)
    assert.equal(first.begun.length, 1)
  })

  test('takes no end of a placement that it has left', async (t) => {
    const { deps, first, id } = await start(t, [{}], SHORT)
    const { rendered } = await renderHeld({ deps, first, id })
    await first.restart()
    await waitFor('it runs again', () => first.begun.length === 2)
    const [left] = await seePlacements(place, id)
    const end = { status: 'succeeded', logs: '', output: 'late', error: '' }
    assert.equal(await recordPrediction(place.deps.sql, left?.id ?? '', end), false)
    first.release()
    assert.equal((await rendered)?.results.length, 1)
  })

  test('waits where the engine needs what its kind has not, and says so', async (t) => {
    const { deps, first, id } = await start(t, [
      {
        properties: { mask: { type: 'string', format: 'uri' } },
        required: ['mask'],
      },
    ])
    const environment = makeEnvironment()
    const rendered = render(deps, id, { environment })
    const [reason] = await waitFor('it waits', async () => {
      const [row] = await place.deps.sql`select waits_for from task where id = ${id}`
      return (row?.['waits_for'] as string[] | null) ?? undefined
    })
    assert.match(String(reason), /cannot run .*needs mask.*; has no input image/)
    stopRun(environment)
    await assert.rejects(rendered, again('worker_stopped'))
    assert.equal(first.begun.length, 0)
  })
})
