import assert from 'node:assert/strict'
import { test } from 'node:test'

import { listAttention } from '../src/operations/attention.ts'

type Operations = Parameters<typeof listAttention>[0]

const well = {
  problems: [],
  stuck: { after_seconds: 600, tasks: [], versions: [] },
  outbox: { waiting: 0, rows: [] },
  deliveries: { waiting: 0, is_sample: false, receivers: [] },
  temporal: { reachable: true, queues: [] },
} as unknown as Operations

test('what is broken comes first, then what stands still; nothing where all is well', () => {
  assert.deepEqual(listAttention(well), [])
  const queue = { name: 'kiln-media', type: 'activity', backlog: 6, backlog_age_seconds: 167 }
  const since = '2026-11-30T08:59:00.000Z'
  const failing = {
    host: 'a.example',
    waiting: 9,
    failing: 4,
    failing_owners: ['alice'],
    failing_owners_total: 1,
    failing_since: since,
    last_status: 500,
    last_error_class: 'status_5xx',
  }
  const found = listAttention({
    ...well,
    problems: [
      { dependency: 'storage', message: 'the store is nearly full', is_urgent: false },
      { dependency: 'engines', message: 'the engine blur fails', scope: 'engine:blur', since },
      { dependency: 'engines', message: 'no instance of the engine sky takes tasks' },
    ],
    temporal: {
      reachable: true,
      queues: [
        { ...queue, pollers: [] },
        { ...queue, name: 'kiln', pollers: [{ identity: 'core@a:1' }] },
      ],
    },
    deliveries: { waiting: 9, receivers: [failing] },
    outbox: { waiting: 2, rows: [{ last_error: 'away' }] },
    stuck: { ...well.stuck, versions: [{ id: 'v' }] },
  } as unknown as Operations)
  assert.deepEqual(
    found.map(({ tone, text, since: at, panel }) =>
      [tone, text, at && 'since', panel].filter(Boolean).join(' | '),
    ),
    [
      'bad | The engine blur fails | since | paused',
      'bad | No instance of the engine sky takes tasks | instances',
      'bad | 6 steps wait for 2 min 47 s in kiln-media (activity), and no worker takes them: start one | queues',
      'warn | The store is nearly full',
      'warn | 4 events of alice for a.example failed and will be tried again for up to three days. The webhook URL responded with a server error (500). Its owner mends it, or pause host:a.example until then | since | hosts',
      'warn | 1 job without progress for 10 min | stuck',
      'warn | 2 messages could not be handed to Temporal yet | outbox',
    ],
  )
})

test('a worker that is missing is one alarm, which names it', () => {
  const queue = { name: 'kiln-media', type: 'activity', backlog: 1, backlog_age_seconds: 9 }
  const temporal = { reachable: true, queues: [{ ...queue, pollers: [] }] }
  const alone = listAttention({ ...well, temporal } as unknown as Operations)
  assert.match(alone[0]?.text ?? '', /^1 step waits for 9\.0 s .* no worker takes it: start one$/)
  const message = 'no media worker lives, and work waits'
  const problems = [{ dependency: 'workers', message }]
  const found = listAttention({ ...well, temporal, problems } as unknown as Operations)
  assert.deepEqual(
    found.map(({ text }) => text),
    ['No media worker lives, and work waits'],
  )
})
