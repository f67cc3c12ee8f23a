import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'

import { countEngineFailure, countEngineSuccess } from '../../../src/tasks/db/breaker.ts'
import { expectStatus } from '../../support/client.ts'
import { useWebhookReceiver } from '../../support/receiver.ts'
import { waitFor } from '../../support/wait.ts'
import { verify } from '../../events/http/delivery-support.ts'
import { useRegistry, usePublisher } from '../../registry/http/registry-support.ts'
import { openTemporal } from '../../support/temporal-client.ts'

const EVENTS = [
  'version.flagged',
  'review.requested',
  'report.made',
  'breaker.opened',
  'breaker.closed',
  'engine.crashed',
  'workflow.failed',
  'queue.older_than',
  'store.nearly_full',
]

const registry = useRegistry({
  roles: ['api', 'core'],
  env: {
    OVERRIDE_NOTICE_INTERVAL_MS: '200',
    OVERRIDE_NOTICE_STORE_PERCENT: '1',
    OVERRIDE_NOTICE_QUEUE_SECONDS: '3600',
  },
})
const { admin, sql, service } = registry
const owned = usePublisher(registry)
const receiver = useWebhookReceiver()

interface Notice {
  type: string
  subject_id: string
  data: Record<string, unknown>
}

describe('endpoints of the platform', () => {
  let secret = ''
  before(async () => {
    const body = { url: receiver.url('/platform'), events: EVENTS }
    const made = expectStatus(await admin.post('/admin/endpoints', body), 201).body
    assert.equal(made['format'], 'json')
    secret = String(made['secret'])
    const slack = { url: receiver.url('/slack'), events: EVENTS, format: 'slack' }
    expectStatus(await admin.post('/admin/endpoints', slack), 201)
  })
  after(async () => await sql`delete from pause`)

  const noticesOf = (type: string): Notice[] =>
    receiver
      .of('/platform')
      .map((request) => verify(request, secret) as unknown as Notice)
      .filter((notice) => notice.type === type)
  const untilNotified = (type: string, isIt: (notice: Notice) => boolean = () => true) =>
    waitFor(`${type} is notified`, () => noticesOf(type).find(isIt))

  test('are notified of reports, without whoever made them, and of reviews and flags', async () => {
    const { node } = await owned.addActive()
    const { client: reader } = await registry.addUser()
    const report = { reason: 'malware', text: 'it mines coins <script>' }
    expectStatus(await reader.post(`${node}/reports`, report), 201)
    const { data } = await untilNotified('report.made')
    assert.deepEqual(
      [data['reason'], Object.keys(data).toSorted()],
      ['malware', ['node_id', 'reason', 'report_id']],
    )
    const { id } = await owned.addFlagged()
    const flagged = await untilNotified('version.flagged', (one) => one.subject_id === id)
    assert.equal(flagged.data['reason'], '1 finding flags this version')
    await sql`insert into review_request (version_id, requested_by) values (${id}, ${owned.user})`
    await untilNotified('review.requested', (one) => one.subject_id === id)
  })

  test('are notified when a breaker opens and closes, once', async () => {
    const failure = { scope: 'engine:vendor:image', taskId: randomUUID(), max: 2, openSeconds: 60 }
    for (let time = 0; time < 4; time += 1) await countEngineFailure(sql, failure)
    const { data } = await untilNotified('breaker.opened')
    assert.deepEqual(data, { engine: 'vendor:image', failures: 2 })
    await countEngineSuccess(sql, { scope: failure.scope, onlyOpen: false })
    await untilNotified('breaker.closed')
    assert.equal(noticesOf('breaker.opened').length, 1)
  })

  test('are notified once of a store that is nearly full', async () => {
    await untilNotified('store.nearly_full', ({ data }) => Number(data['used_percent']) >= 1)
  })

  test('are notified of an old queue each time that it begins, and of nothing paused', async () => {
    const id = await registry.client('caller').createImage()
    await sql`insert into pause (scope, paused_by) values ('kind:upscale', 'root')`
    await sql`update task set last_moved_at = now() - interval '2 hours' where id = ${id}`
    const other = await registry.client('caller').createImage()
    await untilPass()
    assert.equal(noticesOf('queue.older_than').length, 0)
    await sql`delete from pause`
    await untilNotified('queue.older_than', ({ data }) => Number(data['oldest_seconds']) >= 7200)
    await sql`update task set last_moved_at = now() where id = ${id}`
    await waitFor('it has ended', async () => {
      const rows = await sql`select from notified_condition where name = 'queue'`
      return rows.length === 0
    })
    await sql`update task set last_moved_at = now() - interval '3 hours' where id = ${other}`
    await waitFor('it has begun again', () => noticesOf('queue.older_than').length === 2)
  })
  /** Waits for a whole pass of the loop: it notifies again of what has ended meanwhile. */
  const untilPass = async () => {
    await sql`delete from notified_condition where name = 'store'`
    const before = noticesOf('store.nearly_full').length
    await waitFor('a pass', () => noticesOf('store.nearly_full').length > before)
  }

  test('are notified of a workflow that has failed', async (t) => {
    const { workflow } = await openTemporal(t)
    const workflowId = `image-task/${randomUUID()}`
    await workflow.start('imageTask', {
      workflowId,
      taskQueue: service.taskQueue,
      workflowRunTimeout: '1 second',
      args: [{ taskId: randomUUID(), timing: { heartbeatSeconds: 5, deadlineSeconds: 60 } }],
    })
    const { data } = await untilNotified('workflow.failed')
    assert.deepEqual([data['workflow_id'], data['workflow_type']], [workflowId, 'imageTask'])
  })

  test('of Slack get one text, signed like every other', async () => {
    const text = await waitFor('a text', () =>
      receiver
        .of('/slack')
        .map(({ body }) => (JSON.parse(body.toString()) as { text: string }).text)
        .find((one) => one.includes('workflow.failed')),
    )
    assert.match(text, /^\*Kiln: workflow\.failed\*\nrun id: .+\nworkflow id: image-task\//)
  })

  test('are changed, listed and read by platform admins alone', async () => {
    const { body } = expectStatus(await admin.get('/admin/endpoints'), 200)
    const [first] = body['endpoints'] as unknown as { id: string; format: string }[]
    const path = `/admin/endpoints/${first?.id}`
    const changed = expectStatus(await admin.put(path, { format: 'slack' }), 200).body
    assert.equal(changed['format'], 'slack')
    const stranger = registry.client('stranger')
    for (const response of [
      await stranger.get('/admin/endpoints'),
      await stranger.post('/admin/endpoints', { url: receiver.url('/x'), events: EVENTS }),
      await stranger.put(path, { status: 'disabled' }),
      await stranger.delete(path),
    ])
      expectStatus(response, 403, 'forbidden')
    expectStatus(
      await admin.post('/endpoints', { url: receiver.url('/x'), events: EVENTS }),
      400,
      'validation_failed',
    )
    assert.deepEqual((await admin.get('/endpoints')).body['endpoints'], [])
  })
})
