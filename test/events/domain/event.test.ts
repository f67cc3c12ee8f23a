import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { TSchema } from 'typebox'
import { Value } from 'typebox/value'
import {
  Attempts,
  Redeliveries,
  MissedEvents,
  Redelivery,
  SecretRotation,
  WebhookSecrets,
} from '../../../src/events/domain/event.ts'
import { TaskEvents } from '../../../src/tasks/domain/task-event.ts'
import { makeValidator } from '../../../src/platform/domain/validate.ts'

const ID = '7f9c24e8-3b12-4d2a-9f6d-6c1a6b1d2e3f'
const TIME = '2026-01-01T00:00:00.000Z'
const EVENT = { id: ID, sequence: 1, created_at: TIME, state: 'pending', attempts: 0 }
const ATTEMPT = { event_id: ID, number: 1, url: 'https://example.com/hook', started_at: TIME }
const SECRET = { secret: `whsec_${Buffer.alloc(32).toString('base64')}`, created_at: TIME }

const VIDEO_EVENT = { ...EVENT, status: 'queueing', next_attempt_at: TIME }
const ENDED = { duration_ms: 12, status: 503, error_class: 'status_5xx', excerpt: 'later' }
const FAILED_ATTEMPT = { ...ATTEMPT, ...ENDED, next_attempt_at: TIME }

const taken: [name: string, schema: TSchema, value: unknown][] = [
  ['an image task’s event', TaskEvents, { events: [{ ...EVENT, status: 'IN_PROGRESS' }] }],
  ['a video task’s event', TaskEvents, { events: [VIDEO_EVENT] }],
  ['an attempt whose end is unknown', Attempts, { attempts: [ATTEMPT] }],
  ['an attempt that failed', Attempts, { attempts: [FAILED_ATTEMPT] }],
  ['a redelivery', Redelivery, { redelivery_id: ID }],
  ['a count of redeliveries', Redeliveries, { redeliveries: 0 }],
  ['a time to redeliver from', MissedEvents, { since: TIME }],
  ['one secret', WebhookSecrets, { secrets: [SECRET] }],
  ['two secrets', WebhookSecrets, { secrets: [SECRET, { ...SECRET, expires_at: TIME }] }],
]

describe('the schema of a response', () => {
  for (const [name, schema, value] of taken)
    test(`takes ${name}`, () => assert.deepEqual([...Value.Errors(schema, value)], []))

  test('rejects a third secret, an unknown state and an unknown class', () => {
    assert.ok(!Value.Check(WebhookSecrets, { secrets: [SECRET, SECRET, SECRET] }), 'secrets')
    const lost = { ...EVENT, status: 'FAILED', state: 'lost' }
    assert.ok(!Value.Check(TaskEvents, { events: [lost] }), 'state')
    const odd = { ...ATTEMPT, error_class: 'odd' }
    assert.ok(!Value.Check(Attempts, { attempts: [odd] }), 'class')
  })
})

describe('a rotation of secrets', () => {
  const validate = makeValidator(SecretRotation)

  test('a rotation keeps the old secret for a day unless it says otherwise', () => {
    assert.deepEqual(validate({}), { value: { overlap_seconds: 86_400 }, issues: [] })
    for (const overlap_seconds of [0, 604_800])
      assert.deepEqual(validate({ overlap_seconds }), { value: { overlap_seconds }, issues: [] })
  })

  for (const overlap_seconds of [-1, 604_801, 1.5, '1', true])
    test(`is rejected with an overlap of ${JSON.stringify(overlap_seconds)}`, () => {
      const { issues } = validate({ overlap_seconds })
      assert.deepEqual(
        issues.map(({ field, code }) => [field, code]),
        [['/overlap_seconds', 'validation_failed']],
      )
    })
})
