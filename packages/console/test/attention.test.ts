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
  const found = listAttention({
    ...well,
    problems: [{ dependency: 'postgres', message: 'PostgreSQL takes no writes' }],
    temporal: {
      reachable: true,
      queues: [
        { ...queue, pollers: [] },
        { ...queue, name: 'kiln', pollers: [{ identity: 'core@a:1' }] },
      ],
    },
    deliveries: { waiting: 9, receivers: [{ host: 'a.example', waiting: 9, failing: 4 }] },
    outbox: { waiting: 2, rows: [{ last_error: 'away' }] },
    stuck: { ...well.stuck, versions: [{ id: 'v' }] },
  } as unknown as Operations)
  assert.deepEqual(
    found.map(({ tone, text }) => `${tone} ${text}`),
    [
      'bad PostgreSQL takes no writes',
      'bad 6 steps for 2 min 47 s in kiln-media (activity), and no worker takes them: start one',
      'warn 4 events for a.example failed at least once and will be tried again',
      'warn 1 job without progress for 10 min',
      'warn 2 messages could not be handed to Temporal yet',
    ],
  )
})
