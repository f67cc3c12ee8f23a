import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { before, describe, test } from 'node:test'

import { makePurge } from '../../../activities/index.ts'
import { makeSigner } from '../../../src/platform/adapters/signing.ts'
import { listVideoFacts } from '../../../src/tasks/db/video/video-task.ts'
import { THUMBNAIL } from '../../../src/tasks/domain/thumbnail.ts'
import { putRating } from '../../../src/registry/db/rating.ts'
import { startUpload } from '../../../src/registry/db/archive.ts'
import { makeFileRoutes } from '../../../src/tasks/http/file-routes.ts'
import { deleteEndpoint, insertEndpoint } from '../../../src/events/db/endpoint.ts'
import { insertSubscription } from '../../events/db/notified-task.ts'
import { makeRegistryPlace } from '../../registry/db/registry-place.ts'
import { startRoutes } from '../../support/routes.ts'
import { use } from '../../support/use.ts'
import { cancelTasks } from '../../support/task-rows.ts'
import { insertTask, render, usePlace } from '../../tasks/activities/place.ts'
import { finishVideo } from '../../tasks/activities/video-place.ts'

describe('the removal by age', () => {
  const place = usePlace()
  let purge: () => Promise<number>
  const signer = makeSigner({
    keys: [randomBytes(32).toString('base64')],
    publicUrl: 'http://kiln.example',
    linkSeconds: 3600,
  })

  before(() => void (purge = makePurge(place.deps)))
  const server = use(
    () => startRoutes(makeFileRoutes({ ...place.deps, signer }), place.deps),
    ({ close }) => close(),
  )
  const DAY_SECONDS = 86_400
  /** Stores a file of a byte, which looks so many days old. */
  const store = async (key: string, days = 0): Promise<string> => {
    await place.deps.storage.putStream(key, Readable.from(['x']), { maxBytes: 9 })
    const time = Date.now() / 1000 - days * DAY_SECONDS
    await utimes(join(place.root, 'store', key), time, time)
    return key
  }
  const exists = async (key: string) => (await place.deps.storage.stat(key)) !== undefined

  /** A task that ended so many days ago. */
  const ended = async (days: number): Promise<string> => {
    const id = await insertTask(place)
    assert.ok(await render(place.deps, id))
    await place.deps.sql`
      update task set ended_at = clock_timestamp() - make_interval(days => ${days}) where id = ${id}
    `
    return id
  }
  const status = async (id: string, name: string): Promise<number> => {
    const { pathname, search } = new URL(signer.signFile(id, name, new Date()))
    return (await fetch(server.url + pathname + search)).status
  }
  const listFiles = async (id: string): Promise<string[]> => [
    ...(await place.deps.storage.list(`inputs/${id}`)),
    ...(await place.deps.storage.list(`results/${id}`)),
  ]
  const end = (id: string) => cancelTasks(place.deps.sql, [id])
  const insertUpload = async (hours: number): Promise<{ id: string; key: string }> => {
    const id = randomUUID()
    const key = await store(`uploads/${id}/digest`)
    await place.deps.sql`
      insert into upload (id, owner, file_name, storage_key, received_at, expires_at)
      values (${id}, 'alice', 'a.png', ${key}, now(), now() - make_interval(hours => ${hours}))
    `
    return { id, key }
  }

  test('takes the files of a task so long after its end as its request said', async () => {
    const stay = async (seconds: number): Promise<string> => {
      const id = await insertTask(place)
      await place.deps.sql`update task set retention_seconds = ${seconds} where id = ${id}`
      assert.ok(await render(place.deps, id))
      return id
    }
    const [short, long] = [await stay(3600), await stay(86_400)]
    await place.deps.sql`
      update task set purge_at = purge_at - interval '1 hour' where id = any(${[short, long]})
    `
    assert.equal(await status(short, 'result-1.png'), 410, 'before it is removed')
    assert.equal(await purge(), 1)
    assert.deepEqual(await listFiles(short), [])
    assert.equal((await listFiles(long)).length, 3)
    assert.equal(await status(long, 'result-1.png'), 200)
    assert.equal(await purge(), 0)
  })

  test('takes the files of a task past its days; its row stays and its links say gone', async () => {
    const [old, young] = [await ended(31), await ended(29)]
    assert.equal(await status(old, 'result-1.png'), 200)
    assert.equal(await purge(), 1)
    assert.equal(await purge(), 0)
    assert.deepEqual(await listFiles(old), [])
    assert.equal((await listFiles(young)).length, 3)
    for (const name of ['result-1.png', 'input-image.png', THUMBNAIL])
      assert.equal(await status(old, name), 410, name)
    for (const name of ['result-1.png', THUMBNAIL]) assert.equal(await status(young, name), 200)
    assert.equal((await place.deps.sql`select from event where task_id = ${old}`).length, 3)
  })

  test('takes placements of tasks past their days, and instances that nobody has called for 30', async () => {
    const { sql } = place.deps
    const tasks = { old: await ended(31), young: await ended(29), open: await insertTask(place) }
    for (const id of Object.values(tasks))
      await sql`
        insert into placement (id, task_id, instance, template, inputs, at)
        values (gen_random_uuid(), ${id}, 'gpu1', 'upscale', '{}', now() - interval '40 days')
      `
    await sql`
      insert into instance (name, seen_at)
      values ('gpu1', now() - interval '29 days'), ('gpu2', now() - interval '31 days')
    `
    await purge()
    const left = await sql<{ id: string }[]>`select task_id as id from placement`
    assert.deepEqual(new Set(left.map(({ id }) => id)), new Set([tasks.young, tasks.open]))
    const [instance, ...others] = await sql`select name from instance`
    assert.deepEqual([instance?.['name'], others], ['gpu1', []])
    await end(tasks.open)
  })

  test('clears the payload of a video task, and gives its account the bytes back', async () => {
    const { sql } = place.deps
    const inputs = [
      { field: 'images', name: 'input-images.png', storageKey: 'inputs/x', bytes: 600 },
    ]
    const id = await finishVideo(place.database, { owner: 'bob', payload: 'x'.repeat(50), inputs })
    const young = await finishVideo(place.database, { owner: 'bob', payload: 'keep' })
    const stored = async (): Promise<number> => {
      const [row] = await sql<{ n: number }[]>`
        select stored_bytes::int as n from owner where id = 'bob'
      `
      return row?.n ?? -1
    }
    assert.equal(await stored(), 600 + 50 + 1 + 4 + 1, 'what it made counts, too')
    const [before] = await listVideoFacts(sql, [id])
    assert.ok(before)
    await sql`update task set ended_at = ended_at - interval '31 days' where id = ${id}`
    assert.equal(await purge(), 1)
    assert.equal(before.payload, 'x'.repeat(50))
    assert.equal((await listVideoFacts(sql, [id]))[0]?.payload, null)
    assert.equal((await listVideoFacts(sql, [young]))[0]?.payload, 'keep')
    assert.equal(await stored(), 4 + 1)
  })

  for (const part of ['results', 'inputs'] as const)
    test(`leaves the ${part} that an open task works on until it has ended`, async () => {
      const old = await ended(31)
      const [storageKey = ''] = await place.deps.storage.list(`${part}/${old}`)
      const open = await insertTask(place, { storageKey, name: null })
      assert.equal(await purge(), 0)
      assert.equal((await listFiles(old)).length, 3)
      await end(open)
      assert.equal(await purge(), 1)
      assert.deepEqual(await listFiles(old), [])
    })

  test('takes an upload once its links have ended, unless an open task works on it', async () => {
    const living = await insertUpload(0)
    const used = await insertUpload(2)
    const unused = await insertUpload(2)
    const open = await insertTask(place, { storageKey: used.key, name: null })
    assert.equal(await purge(), 1)
    const left = await Promise.all([living, used, unused].map(({ key }) => exists(key)))
    assert.deepEqual(left, [true, true, false])
    assert.equal(await status(unused.id, 'a.png'), 410)
    await end(open)
    assert.equal(await purge(), 1)
    assert.equal(await exists(used.key), false)
  })

  test('takes what a killed upload has stored for a version after its decision', async () => {
    const registry = makeRegistryPlace(place.database)
    await registry.addPublisher('pub')
    const { sql, storage } = place.deps
    const add = async (nodeId: string, hours: number): Promise<string> => {
      const id = await registry.addVersion({ nodeId })
      await startUpload(sql, id)
      await sql`
        update version set upload_started_at = now() - make_interval(hours => ${hours}) where id = ${id}
      `
      await store(`uploads/${id}/late`)
      return id
    }
    const decide = async (id: string): Promise<void> => {
      await registry.receive(id, id)
      await registry.accept(id, id)
      await registry.transition(id, 'pass')
    }
    const [decided, deleted] = [await add('decided', 2), await add('deleted', 2)]
    const [young, open] = [await add('young', 0), await add('open', 2)]
    await decide(decided)
    await decide(young)
    await registry.transition(deleted, 'delete')
    assert.equal(await purge(), 2)
    assert.equal(await purge(), 0)
    const left = async (id: string) => (await storage.list(`uploads/${id}`)).length
    assert.deepEqual(await Promise.all([decided, deleted, young, open].map(left)), [0, 0, 1, 1])
    await sql`delete from outbox`
  })

  test('takes inputs that were stored for a task which was never committed', async () => {
    const storeInput = (id: string, days: number) => store(`inputs/${id}/image.png`, days)
    const committed = await insertTask(place)
    const lost = await storeInput(randomUUID(), 2)
    const kept = [await storeInput(randomUUID(), 0.5), await storeInput(committed, 2)]
    kept.push(await storeInput('of-others', 2))
    assert.deepEqual([await purge(), await purge()], [1, 0])
    assert.deepEqual(await Promise.all([lost, ...kept].map(exists)), [false, true, true, true])
    await end(committed)
  })

  test('takes archives that were only checked, once they are a day old', async () => {
    const [old, young] = [randomUUID(), randomUUID()]
    await store(`checks/${old}/archive.zip`, 2)
    await store(`checks/${old}/result.json`, 2)
    await store(`checks/${young}/archive.zip`)
    assert.deepEqual([await purge(), await purge()], [1, 0])
    assert.deepEqual(await place.deps.storage.list('checks'), [`checks/${young}/archive.zip`])
  })

  test('takes pictures that nothing names, once they are a day old', async () => {
    const { sql } = place.deps
    const registry = makeRegistryPlace(place.deps)
    await registry.addPublisher('painter')
    await registry.addNode('painted', {}, 'painter')
    const storePicture = (id: string, days: number) => store(`pictures/${id}/picture.webp`, days)
    const [icon, banner, logo] = [randomUUID(), randomUUID(), randomUUID()]
    const left = await storePicture(randomUUID(), 2)
    const young = await storePicture(randomUUID(), 0.5)
    const kept = await Promise.all([icon, banner, logo].map((id) => storePicture(id, 2)))
    await sql`update node set icon_picture = ${icon}, banner_picture = ${banner} where id = 'painted'`
    await sql`update publisher set logo_picture = ${logo} where id = 'painter'`
    assert.deepEqual([await purge(), await purge()], [1, 0])
    assert.deepEqual(await Promise.all([left, young, ...kept].map(exists)), [
      false,
      ...Array.from({ length: 4 }, () => true),
    ])
    await sql`update node set icon_picture = null where id = 'painted'`
    assert.equal(await purge(), 1, 'the one that was replaced')
    assert.deepEqual(await Promise.all(kept.map(exists)), [false, true, true])
  })

  test('takes settled events of endpoints past their days, and deleted endpoints with them', async () => {
    const { sql } = place.deps
    const { id, owner, transition } = await insertSubscription(sql)
    const [old, due] = [await transition('IN_PROGRESS'), await transition('IN_PROGRESS')]
    const young = await transition('IN_PROGRESS')
    await sql`update event set created_at = now() - interval '31 days' where task_id in (${old}, ${due})`
    await sql`update event set state = 'delivered' where task_id in (${old}, ${young})`
    await sql`insert into webhook_secret (owner, secret) values (${`endpoint:${id}`}, 'x')`
    const left = async (): Promise<string[]> => {
      const rows = await sql`select task_id as chain from event where endpoint_id = ${id}`
      return rows.map(({ chain }) => String(chain)).toSorted()
    }
    assert.equal(await purge(), 1)
    assert.deepEqual(await left(), [due, young].toSorted())
    const key = { id, holder: { owner, publisherId: null } }
    assert.ok(await sql.begin((sql) => deleteEndpoint(sql, key)))
    assert.equal(await purge(), 1, 'what was due is stopped, and old')
    await sql`update event set created_at = now() - interval '31 days' where task_id = ${young}`
    assert.deepEqual([await purge(), await purge()], [2, 0])
    const rows = await sql`
      select from endpoint where id = ${id} union all select from webhook_secret where owner = ${`endpoint:${id}`}
    `
    assert.equal(rows.length, 0)
  })

  test('keeps the last event of a publisher, after which the next one is numbered', async () => {
    const { sql } = place.deps
    const publisherId = await makeRegistryPlace(place.database).addPublisher('numbered')
    const holder = { owner: null, publisherId }
    const given = { holder, by: 'olga', url: 'https://a.example.com/', events: ['token.created'] }
    const endpoint = await sql.begin((sql) => insertEndpoint(sql, given, 1))
    const subject = randomUUID()
    const enqueue = () =>
      sql`select record_publisher_event(${publisherId}, 'token.created', ${subject}::uuid, '{}')`
    const numbers = async (): Promise<number[]> => {
      const rows = await sql<{ sequence: number }[]>`
        select sequence from event where endpoint_id = ${endpoint?.id ?? ''} order by sequence
      `
      return rows.map(({ sequence }) => sequence)
    }
    for (let made = 0; made < 3; made += 1) await enqueue()
    await sql`
      update event set state = 'delivered', created_at = now() - interval '31 days'
      where subject_id = ${subject}
    `
    await sql`
      insert into redelivery (event_id) select id from event where subject_id = ${subject} and sequence = 1
    `
    assert.equal(await purge(), 1)
    assert.deepEqual(await numbers(), [1, 3], 'the first is to be delivered again')
    await enqueue()
    assert.deepEqual(await numbers(), [1, 3, 4])
    await sql`delete from event where subject_id = ${subject}`
  })

  test('goes on past files that cannot be removed, and reports them', async () => {
    const { sql, storage } = place.deps
    const [stuck, fine] = [await ended(32), await ended(31)]
    await sql`
      insert into outbox (kind, workflow_type, workflow_id, created_at, dispatched_at)
      values ('start', 't', 'old', now() - interval '9 days', now() - interval '8 days')
    `
    const locked = async (prefix: string): Promise<void> => {
      if (prefix.endsWith(stuck)) throw new Error('it is locked')
      await storage.removePrefix(prefix)
    }
    const faulty = makePurge({
      ...place.deps,
      storage: { ...storage, removePrefix: locked },
    })
    assert.equal(await faulty(), 2, 'the next batch follows, as after any other')
    assert.deepEqual(await listFiles(fine), [])
    assert.equal((await sql`select from outbox where workflow_id = 'old'`).length, 0)
    const lost = await store(`inputs/${randomUUID()}/image.png`, 2)
    await assert.rejects(faulty(), /1 could not be removed/)
    assert.equal(await storage.stat(lost), undefined, 'what no row names goes all the same')
    assert.equal(await purge(), 1)
    assert.deepEqual(await listFiles(stuck), [])
  })

  test('counts reviews whose accounts are old enough by now', async () => {
    const { sql } = place.deps
    const registry = makeRegistryPlace(place.deps)
    await registry.addPublisher('reviewed')
    const { id: nodeId } = await registry.addNode('reviewed-node', {}, 'reviewed')
    await registry.addUser('young')
    const put = { nodeId, userId: 'young', fields: { stars: 4 }, minAgeHours: 1 }
    assert.equal(await sql.begin((sql) => putRating(sql, put)), 'written')
    assert.equal(await purge(), 0)
    await sql`update rating set counts_at = counts_at - interval '1 hour'`
    assert.deepEqual([await purge(), await purge()], [1, 0])
    const [row] = await sql`
      select rating_sum::integer, rating_weight, mean from node_stats, rating_mean
      where node_id = ${nodeId}
    `
    assert.deepEqual({ ...row }, { rating_sum: 4, rating_weight: 0, mean: 4 })
  })

  test('takes old records, and no outbox row that Temporal does not know of yet', async () => {
    await place.deps.sql`
      insert into idempotency (principal, method, path, key, claim, lease_until, created_at)
      select 'p', 'POST', '/', 'k' || n, gen_random_uuid(), now(), now() - interval '25 hours'
      from generate_series(1, 250) n
    `
    await place.deps.sql`
      insert into outbox (kind, workflow_type, workflow_id, created_at, dispatched_at)
      values
        ('start', 't', 'old', now() - interval '9 days', now() - interval '8 days'),
        ('start', 't', 'young', now() - interval '9 days', now() - interval '6 days'),
        ('start', 't', 'waiting', now() - interval '9 days', null)
    `
    await place.deps.sql`
      insert into picture (key, bytes, fetched_at)
      values ('old', null, now() - interval '25 hours'), ('young', null, now())
    `
    assert.deepEqual([await purge(), await purge(), await purge()], [202, 50, 0])
    const rows = await place.deps.sql`select workflow_id as id from outbox order by id`
    assert.deepEqual([...rows], [{ id: 'waiting' }, { id: 'young' }])
  })
})
