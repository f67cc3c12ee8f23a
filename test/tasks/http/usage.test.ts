import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { listOf, makeClient, VIDEO_API, type Client } from '../../support/client.ts'
import { base64 } from '../../support/pictures.ts'
import { useService } from '../../support/service.ts'
import { waitFor } from '../../support/wait.ts'

interface Sums {
  tasks: Record<'done' | 'failed' | 'cancelled', number>
  credits: number
  engine_seconds: number
  pixels: number
  stored_bytes: number
  waiting: Percentiles
  running: Percentiles
}
type Percentiles = Record<'p50' | 'p95', number | null>
interface LastHour {
  tasks: { kind: string; ended: number; failed: number; per_minute: number; running: Percentiles }[]
  deliveries: { attempts: number; failed: number; seconds: Percentiles }
}
interface Report {
  groups: (Sums & { group: string; name?: string })[]
  total: Sums
}

const service = useService({
  roles: ['api', 'core', 'media'],
  env: { OVERRIDE_VIDEO_TINY: 'true', ADMIN_SUBJECTS: 'root' },
})
const { sql } = service
const UPSCALE = '/proxy/imgvendor/v1/ai/image-upscaler'

const report = async (client: Client, query = '') => {
  const { status, body } = await client.get(`/usage${query}`)
  assert.equal(status, 200, JSON.stringify(body))
  return body as unknown as Report
}
const find = ({ groups }: Report, group: string) => groups.find((each) => each.group === group)

/** Sums of an owner's ended tasks, from their rows. */
const sumRows = async (owner: string) => {
  const [row] = await sql<Record<string, number>[]>`
    select count(*)::integer as tasks,
      sum(case when status = 'failed' then 0 else credits end)::integer as credits,
      sum(stored_bytes)::integer as bytes,
      (select sum(width * height)::integer from task_result r join task t on t.id = r.task_id
        where t.owner = ${owner} and t.family = 'image') as pixels
    from task where owner = ${owner} and ended_at is not null
  `
  return row ?? {}
}
const untilEnded = async (client: Client, id: string): Promise<void> =>
  void (await client.untilEnded('image-upscaler', id))

describe('the report of usage', () => {
  test('counts no time of an attempt whose worker went away', async () => {
    const client = service.client('user of the lost')
    const image = await base64({ width: 32, height: 24 })
    const id = await client.createImage({ image, kiln_start_after: 3600 }, UPSCALE)
    const at = (seconds: number): string => new Date(Date.now() - seconds * 1000).toISOString()
    const attempts = [
      { n: 1, at: at(7200) },
      { n: 2, at: at(50), failed_at: at(20), error: 'engine_failed' },
    ]
    await sql`
      update task set attempts = ${sql.json(attempts)}, status = 'FAILED', error_code = 'engine_failed',
        error_message = 'No.', waits_on = null, claimed_at = created_at, ended_at = clock_timestamp()
      where id = ${id}
    `
    const { total } = await report(client)
    assert.deepEqual([total.tasks.failed, Math.round(total.engine_seconds)], [1, 30])
  })

  test('is what the rows of the ended tasks add up to', async () => {
    const client = service.client('user of the sums')
    const image = await base64({ width: 32, height: 24 })
    const labels = { kiln_labels: { project: 'north', team: 'red' } }
    const ids = [
      await client.createImage({ image, ...labels }, UPSCALE),
      await client.createImage({ image, kiln_labels: { project: 'south' } }, UPSCALE),
      await client.createImage({ image }, UPSCALE),
    ]
    for (const id of ids) await untilEnded(client, id)
    const video = await client.createVideo({ prompt: 'a sea', off_peak: true, ...labels })
    await client.post(`${VIDEO_API}/tasks/${video}/cancel`, {})
    const removed = await client.createImage(
      { image: 'https://images.example.com/a.png', kiln_start_within: 1, ...labels },
      UPSCALE,
    )
    await client.call('DELETE', `/tasks/${removed}`)
    const rows = await sumRows('user of the sums')
    const byKind = await report(client, '?by=kind')
    const { tasks, credits, pixels, stored_bytes: bytes } = byKind.total
    assert.deepEqual(tasks, { done: 3, failed: 0, cancelled: 2 })
    assert.deepEqual(
      { tasks: tasks.done + tasks.cancelled, credits, pixels, bytes },
      { ...rows, pixels: 3 * 64 * 48 },
    )
    assert.deepEqual(
      byKind.groups.map(({ group }) => group),
      ['upscale', 'text2video'],
    )
    const { waiting, running, engine_seconds: seconds } = find(byKind, 'upscale') as Sums
    for (const value of [waiting.p50, waiting.p95, running.p50, running.p95])
      assert.ok(value !== null && value > 0, JSON.stringify([waiting, running]))
    assert.ok(seconds > 0)
    assert.equal(find(byKind, 'text2video')?.running.p50, null, 'it has not begun')
    const today = new Date().toISOString().slice(0, 10)
    const byDay = await report(client)
    assert.deepEqual(byDay.total, byKind.total)
    assert.deepEqual(find(byDay, today)?.tasks, tasks)
    const byLabel = await report(client, '?by=label:project')
    assert.deepEqual(find(byLabel, 'north')?.tasks, { done: 1, failed: 0, cancelled: 2 })
    assert.deepEqual(find(byLabel, 'south')?.tasks, { done: 1, failed: 0, cancelled: 0 })
    const red = await report(client, '?by=kind&label=team:red')
    assert.deepEqual(red.total.tasks, { done: 1, failed: 0, cancelled: 2 })
    assert.deepEqual((await report(client, '?to=2026-01-02&from=2026-01-01')).groups, [])
  })

  test('counts a task for the API key that made it, alone or by a batch, with a cap or without', async () => {
    const client = service.client('user of the keys')
    const addKey = async (name: string, more: object = {}) => {
      const { body } = await client.post('/users/api-keys', { name, ...more })
      return { id: String(body['id']), client: makeClient(service.baseUrl, String(body['key'])) }
    }
    const [nightly, capped] = [
      await addKey('nightly'),
      await addKey('capped', { credit_cap: 1000 }),
    ]
    const later = { image: 'https://images.example.com/a.png', kiln_start_after: 3600 }
    for (const one of [nightly.client, capped.client, client]) {
      const id = await one.createImage(later, UPSCALE)
      await client.call('DELETE', `/tasks/${id}`)
    }
    const request = { custom_id: 'a', path: UPSCALE, body: later }
    const { body } = await nightly.client.post('/batches', { requests: [request] })
    const ofBatch = await waitFor('the task of the batch', async () => {
      const found = await client.get('/tasks?state=waiting')
      return listOf<{ task_id: string }>(found, 'tasks')[0]?.task_id
    })
    await client.call('DELETE', `/tasks/${ofBatch}`)
    await client.delete(`/users/api-keys/${nightly.id}`)
    const { groups, total } = await report(client, '?by=key')
    const shown = groups.map(({ group, name, tasks }) => [group, name, tasks.cancelled])
    assert.deepEqual(shown, [
      [nightly.id, 'nightly', 2],
      [capped.id, 'capped', 1],
    ])
    assert.equal(total.tasks.cancelled, 3, String(body['batch_id']))
    assert.equal((await report(client)).total.tasks.cancelled, 4)
    // What a capped key is charged is still counted for it alone.
    const keys = await client.get('/users/api-keys')
    assert.equal(JSON.stringify(keys.body).match(/credits_used/g)?.length, 1)
  })

  test('comes as CSV where that is asked for', async () => {
    const client = service.client('user of a table')
    const image = await base64({ width: 32, height: 24 })
    const id = await client.createImage({ image, kiln_labels: { team: 'a, "b"' } }, UPSCALE)
    await untilEnded(client, id)
    const authorization = `Bearer ${await service.token('user of a table')}`
    const response = await fetch(`${service.baseUrl}/usage?by=label:team`, {
      headers: { authorization, accept: 'text/csv' },
    })
    assert.equal(response.headers.get('content-type'), 'text/csv; charset=utf-8')
    const [head, line, ...rest] = (await response.text()).split('\r\n')
    assert.match(head ?? '', /^label:team,done,failed,cancelled,credits,engine_seconds,pixels,/)
    assert.match(line ?? '', /^"a, ""b""",1,0,0,0,[\d.]+,3072,\d+,[\d.]+,/)
    assert.deepEqual(rest, [''])
  })

  test('is of all owners for platform admins alone', async () => {
    const [client, admin] = [service.client('somebody'), service.client('root')]
    const id = await client.createImage({ image: 'https://images.example.com/a.png' }, UPSCALE)
    await client.call('DELETE', `/tasks/${id}`)
    for (const query of ['?by=owner', '?owner=*', '?owner=somebody'])
      assert.equal((await client.get(`/usage${query}`)).status, 403, query)
    const all = await report(admin, '?by=owner')
    assert.deepEqual(find(all, 'somebody')?.tasks, { done: 0, failed: 0, cancelled: 1 })
    const one = await report(admin, '?owner=somebody')
    assert.equal(one.total.tasks.cancelled, 1)
    assert.equal((await report(admin)).total.tasks.cancelled, 0)
  })

  test('has rates and percentiles of the last hour on the page of operations', async () => {
    const [client, admin] = [service.client('user of the hour'), service.client('root')]
    const readHour = async () => {
      const { body } = await admin.get('/admin/operations')
      const { last_hour: hour } = body as unknown as { last_hour: LastHour }
      return { hour, upscale: hour.tasks.find(({ kind }) => kind === 'upscale') }
    }
    const image = await base64({ width: 32, height: 24 })
    const done = await client.createImage({ image }, UPSCALE)
    await untilEnded(client, done)
    const before = (await readHour()).upscale
    const removed = await client.createImage({ image, kiln_start_after: 3600 }, UPSCALE)
    await admin.post(`/admin/tasks/${removed}/fail`, { reason: 'a test' })
    const old = await client.createImage({ image }, UPSCALE)
    await untilEnded(client, old)
    await sql`update task set ended_at = now() - interval '61 minutes' where id = ${old}`
    const { upscale } = await readHour()
    assert.ok(before && upscale)
    assert.equal(upscale.ended, before.ended + 1, 'the old one does not count')
    assert.equal(upscale.failed, before.failed + 1)
    assert.equal(upscale.per_minute, Math.round((upscale.ended / 60) * 100) / 100)
    const { p50, p95 } = upscale.running
    assert.ok(p50 !== null && p95 !== null && p50 > 0 && p50 <= p95, JSON.stringify(upscale))
    await sql`
      insert into attempt (event_id, number, url, duration_ms, error_class)
      select id, number, 'https://a.example', number * 200 - 100, case number when 1 then 'timeout' end
      from event, generate_series(1, 2) number where task_id = ${done} and sequence = 1
    `
    const { deliveries } = (await readHour()).hour
    assert.deepEqual([deliveries.attempts, deliveries.failed], [2, 1])
    assert.equal(deliveries.seconds.p50, 0.2)
  })

  const WRONG: readonly [query: string, message: RegExp][] = [
    ['from=today', /^\?from must be a day such as 2026-01-31, got "today"/],
    ['from=2026-02-30', /^\?from must be a day of the calendar, got 2026-02-30/],
    ['from=2026-02-02&to=2026-02-01', /^\?to must not be before \?from/],
    ['from=2020-01-01&to=2026-01-01', /^\?to must be at most 1095 days after \?from/],
    [
      'by=week',
      /^\?by must be day, kind, key, owner, or label: with the key of a label, got "week"/,
    ],
    ['by=label:A', /^\?by must be day, kind/],
    ['by=label:a&label=b:c', /^\?label must be one label, and absent/],
    ['label=b:c&label=d:e', /^\?label must be one label/],
    ['by=key&label=b:c', /^\?label must be one label, and absent/],
  ]
  for (const [query, message] of WRONG)
    test(`rejects ?${query}`, async () => {
      const { status, body } = await service.client().get(`/usage?${query}`)
      assert.deepEqual([status, message.test(body.message ?? '')], [400, true], body.message)
    })
})
