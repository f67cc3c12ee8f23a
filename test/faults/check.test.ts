import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { Webhook } from 'standardwebhooks'

import { makeWebhookSecret } from '../../src/events/adapters/webhook.ts'
import { check } from '../nemesis/check.ts'
import type { Ledgers } from '../nemesis/ledgers.ts'
import type { EventRow, TaskRow } from '../nemesis/rows.ts'
import { isBad, makeBulkOrder, promptOf, REQUESTS } from '../nemesis/bulk.ts'
import type { BulkLine, EndedBulk } from '../nemesis/bulk.ts'
import { makeOrder, type Order } from '../nemesis/callers.ts'

const SECRET = makeWebhookSecret()
const ACTIVE = 'NodeVersionStatusActive'
const RESULT = 'results/id-image/1/result-1.png'
const CANARY = Buffer.from('{"secret":1}')
const PENDING = 'NodeVersionStatusPending'

const order = (key: string, kind: Order['kind'], end: Order['end'] = 'done'): Order =>
  makeOrder({ key, kind, end, ids: new Set([`id-${key}`]) })

const task = (key: string, family: TaskRow['family'], statuses: string[]): TaskRow => ({
  id: `id-${key}`,
  family,
  status: statuses.at(-1) ?? '',
  error_code: null,
  fence: 1,
  admission: 1,
  owner: 'alice',
  credits: family === 'video' ? 5 : 0,
  events: statuses.map((status, index) => ({
    id: `${key}-${index + 1}`,
    sequence: index + 1,
    status,
    at: index,
    deliver: index > 0,
    state: index > 0 ? 'delivered' : 'unsent',
  })),
  results:
    family === 'image' ? [{ storageKey: `results/id-${key}/1/result-1.png`, sha256: 'aa' }] : [],
  kind: family === 'image' ? 'upscale' : 'text2video',
  engine: 'local',
  prompt: null,
  labels: null,
  isDeleted: false,
  isPurged: false,
  createdAt: 0,
  attempts: [5],
  admittedAt: family === 'image' ? null : 4,
  endedAt: 9,
  thumbnail: family === 'image' ? `results/id-${key}/1/thumbnail.webp` : null,
  ledger: family === 'video' ? ['charge', 'refund'].map((kind) => ({ kind, credits: 5 })) : [],
})

/** Makes the request that a receiver gets for an event. */
const received = (of: TaskRow, sequence: number): Ledgers['received'][number] => {
  const event = of.events[sequence - 1]
  const { id: taskId, family } = of
  const status = event?.status
  const body = family === 'image' ? { task_id: taskId, status } : { id: taskId, state: status }
  return makeReceived(`/t/${of.id}`, event?.id ?? '', body)
}

const makeReceived = (path: string, id: string, content: object): Ledgers['received'][number] => {
  const text = JSON.stringify(content)
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': '1',
    'webhook-signature': new Webhook(SECRET).sign(id, new Date(1000), text),
  }
  return { at: 1, method: 'POST', path, headers, rawHeaders: [], body: Buffer.from(text) }
}

const bodyOf = (of: TaskRow, sequence: number): Buffer => received(of, sequence).body

const ended = (lines: BulkLine[]): EndedBulk => {
  const counts: Record<string, number> = {}
  for (const { state } of lines) counts[state] = (counts[state] ?? 0) + 1
  return {
    state: 'done',
    total: lines.length,
    counts,
    created_at: new Date(100).toISOString(),
    lines,
  }
}

/** Makes a batch, of which an operation has deleted the first task and could not delete the second. */
const makeBulk = () => {
  const order = makeBulkOrder({ key: 'batch', next: 'delete' })
  order.batch.ids.add('id-batch')
  order.operation.ids.add('id-operation')
  const tasks: TaskRow[] = []
  const lines = Array.from({ length: REQUESTS }, (_, index): BulkLine => {
    if (isBad(index)) return { index, state: 'rejected' }
    const made = task(`batch-${index}`, 'image', ['CREATED', 'IN_PROGRESS', 'COMPLETED'])
    for (const event of made.events) event.state = 'unsent'
    tasks.push(made)
    const deleted = { prompt: null, isDeleted: true, isPurged: true }
    const kept = { prompt: promptOf('batch', index) }
    Object.assign(made, { createdAt: index }, index === 0 ? deleted : kept)
    return { index, state: 'done', task_id: made.id }
  })
  const operation = ended(
    lines.slice(0, 2).map(({ task_id: id = '' }, index) => ({
      index,
      state: index === 0 ? 'done' : 'rejected',
      task_id: id,
    })),
  )
  const batch = ended(lines)
  const data = { batch_id: 'id-batch', counts: batch.counts }
  const end = makeReceived('/b/batch', 'end', { type: 'batch.ended', data })
  return { bulk: { order, batch, operation }, tasks, end }
}

/** Ledgers of an image, a video that failed and a version, in which all is well. */
const makeLedgers = () => {
  const image = task('image', 'image', ['CREATED', 'IN_PROGRESS', 'COMPLETED'])
  const video = task('video', 'video', ['created', 'queueing', 'processing', 'failed'])
  const version = {
    id: 'id-pack',
    key: 'pack',
    status: ACTIVE,
    storageKey: 'archives/a',
    sha256: 'bb',
    moves: [
      { from: null, to: PENDING },
      { from: PENDING, to: PENDING },
      { from: PENDING, to: ACTIVE },
    ],
    extraction: 'success',
  }
  const { bulk, tasks: ofBatch, end } = makeBulk()
  const [deleted, kept] = ofBatch as [TaskRow, TaskRow]
  const files = new Map([
    [RESULT, 'aa'],
    ['archives/a', 'bb'],
    ...ofBatch.slice(1).map(({ id }) => [`results/${id}/1/result-1.png`, 'aa'] as const),
  ])
  const workflows = new Map([
    ['run-batch/id-batch', 1],
    ...ofBatch.map(({ id }) => [`image-task/${id}`, 1] as const),
    ['image-task/id-image', 1],
    ['video-task/id-video', 1],
    ['publish-version/id-pack', 1],
  ])
  const imageOrder = order('image', 'image')
  const videoOrder = order('video', 'video', 'failed')
  const [, begun, ended] = image.events as [EventRow, EventRow, EventRow]
  const [, refund] = video.ledger as [TaskRow['ledger'][0], TaskRow['ledger'][0]]
  const first = received(image, 2)
  return {
    parts: { imageOrder, videoOrder, version, image, video, begun, ended, refund, first },
    bulk: { ...bulk, deleted, kept },
    bulks: [bulk],
    orders: [imageOrder, videoOrder, order('pack', 'version')],
    reads: [
      { id: image.id, status: 'CREATED' },
      { id: image.id, status: 'COMPLETED' },
    ],
    wrong: [] as string[],
    received: [first, received(image, 3), ...[2, 3, 4].map((n) => received(video, n)), end],
    secrets: new Map([['alice', SECRET]]),
    rows: {
      tasks: [image, video, ...ofBatch],
      versions: [version],
      wrongSums: [] as string[],
      files,
      workflows,
    },
    said: { log: ['a line'], history: ['begun'], metric: ['kiln_waiting 0'] },
    canaries: ['secret'],
    pauses: [{ scope: 'all', from: 6, to: 8 }],
    mayFail: false,
  }
}

type Made = ReturnType<typeof makeLedgers>

/** Violations, and the invariant by which each is found. */
const FAULTS: Record<string, [invariant: string, spoil: (ledgers: Made) => void]> = {
  'an accepted task without a row': ['I1', ({ rows }) => void rows.tasks.shift()],
  'a task that does not end': ['I1', ({ parts }) => (parts.image.status = 'IN_PROGRESS')],
  'a task that fails for nothing': ['I1', ({ parts }) => (parts.videoOrder.end = 'done')],
  'a second workflow': ['I1', ({ rows }) => rows.workflows.set('image-task/id-image', 2)],
  'a version without a decision': ['I1', ({ parts }) => (parts.version.status = PENDING)],
  'a repetition with an id of its own': ['I2', ({ parts }) => parts.imageOrder.ids.add('other')],
  'a row that nobody has ordered': ['I2', ({ orders }) => void orders.pop()],
  'a gap in the sequence': ['I3', ({ parts }) => void parts.image.events.splice(1, 1)],
  'a transition that does not exist': ['I3', ({ parts }) => (parts.begun.status = 'CREATED')],
  'a second end': ['I3', ({ parts }) => parts.image.events.push({ ...parts.ended, sequence: 4 })],
  'a time that goes back': ['I3', ({ parts }) => (parts.ended.at = -1)],
  'a read of an earlier state': ['I3', ({ reads }) => reads.push(...reads.splice(0, 1))],
  'an event that never came': ['I4', ({ received }) => void received.splice(1, 1)],
  'events in another order': ['I4', ({ received }) => received.push(...received.splice(0, 1))],
  'another signature': ['I4', ({ secrets }) => secrets.set('alice', makeWebhookSecret())],
  'an event given up': ['I4', ({ parts }) => (parts.ended.state = 'exhausted')],
  'an end that was left out': ['I4', ({ parts }) => (parts.ended.state = 'superseded')],
  'a delivery of no event': ['I5', ({ parts }) => (parts.begun.id = 'other')],
  'a delivery of another event': ['I5', ({ parts }) => (parts.first.body = bodyOf(parts.image, 3))],
  'a missing refund': ['I6', ({ parts }) => void parts.video.ledger.pop()],
  'a refund of a part': ['I6', ({ parts }) => (parts.refund.credits = 4)],
  'a sum that is another': ['I6', ({ rows }) => rows.wrongSums.push('alice')],
  'a result of other bytes': ['I7', ({ rows }) => rows.files.set(RESULT, 'cc')],
  'a file of no result': ['I7', ({ rows }) => rows.files.set('results/id-image/2/x.png', 'aa')],
  'an archive of other bytes': ['I8', ({ rows }) => rows.files.set('archives/a', 'cc')],
  'a response that nobody may get': ['I9', ({ wrong }) => wrong.push('500')],
  'a secret in a log': ['I11', ({ said }) => said.log.push('a secret')],
  'a secret in a history': ['I11', ({ said }) => said.history.push(btoa('secret'))],
  'an attempt that began during a pause': ['I12', ({ parts }) => parts.image.attempts.push(7)],
  'more slots than there are': [
    'I6',
    ({ rows, parts }) => rows.tasks.push(...Array.from({ length: 20 }, () => parts.video)),
  ],
  'a second batch of one key': ['I2', ({ bulk }) => bulk.order.batch.ids.add('other')],
  'a second task of a request': [
    'I2',
    ({ rows, bulk }) => rows.tasks.push({ ...bulk.kept, id: 'b' }),
  ],
  'a request without a task': ['I13', ({ bulk }) => delete bulk.batch.lines[1]?.task_id],
  'a request whose task is that of another': ['I13', ({ bulk }) => (bulk.kept.prompt = 'batch 5')],
  'requests in another order': ['I13', ({ bulk }) => (bulk.kept.createdAt = 99)],
  'a line that its task does not agree with': [
    'I13',
    ({ bulk }) => Object.assign(bulk.batch.lines[1] ?? {}, { state: 'failed' }),
  ],
  'counts that are not those of the lines': ['I13', ({ bulk }) => (bulk.batch.counts['done'] = 1)],
  'requests that stay after the end of their batch': [
    'I13',
    ({ rows }) => rows.files.set('batches/id-batch/requests.jsonl', 'aa'),
  ],
  'an end of a batch that never came': ['I4', ({ received }) => void received.pop()],
  'an operation that has not done what it says': [
    'I14',
    ({ bulk }) => (bulk.deleted.isDeleted = false),
  ],
  'an operation that has done more than it says': [
    'I14',
    ({ bulk }) => (bulk.kept.isDeleted = true),
  ],
  'an operation that goes on after it was stopped': [
    'I14',
    ({ bulk }) => (bulk.order.stoppedAt = { done: 0 }),
  ],
  'an operation on a task that was made later': ['I14', ({ bulk }) => (bulk.kept.createdAt = 500)],
  'a result of a deleted task': [
    'I14',
    ({ rows, bulk }) => rows.files.set(`results/${bulk.deleted.id}/1/result-1.png`, 'aa'),
  ],
  'an input of a deleted task': [
    'I14',
    ({ rows, bulk }) => rows.files.set(`inputs/${bulk.deleted.id}/image`, 'aa'),
  ],
  'a text of a deleted task': ['I14', ({ bulk }) => (bulk.deleted.prompt = 'a secret wish')],
  'a secret in a notification': ['I11', ({ parts }) => (parts.first.body = CANARY)],
}

describe('the checker of the ledgers', () => {
  test('finds nothing where all is well', () => {
    assert.deepEqual(check(makeLedgers()), [])
  })

  for (const [name, [invariant, spoil]] of Object.entries(FAULTS))
    test(`finds ${name}`, () => {
      const ledgers = makeLedgers()
      spoil(ledgers)
      const found = new Set<string>(check(ledgers).map((violation) => violation.invariant))
      assert.ok(found.has(invariant), `found ${[...found].join()}`)
    })
})
