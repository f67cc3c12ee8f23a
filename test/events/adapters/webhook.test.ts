import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { describe, test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import {
  decodeWebhookSecret,
  makeWebhookSecret,
  signWebhook,
} from '../../../src/events/adapters/webhook.ts'

const ID = '7f9c24e8-3b12-4d2a-9f6d-6c1a6b1d2e3f'
const BODY = Buffer.from('{"task_id":"ä😀","status":"COMPLETED","generated":[]}')
const now = () => Math.floor(Date.now() / 1_000)

describe('a webhook', () => {
  test('is taken by the public verifier under each of its secrets', () => {
    const secrets = [makeWebhookSecret(), makeWebhookSecret()]
    const headers = signWebhook({ id: ID, timestamp: now(), body: BODY, secrets })
    for (const secret of secrets)
      assert.deepEqual(new Webhook(secret).verify(BODY, headers), JSON.parse(BODY.toString()))
    assert.equal(headers['webhook-signature'].split(' ').length, 2)
  })

  test('is rejected by the public verifier when anything was changed', () => {
    const secret = makeWebhookSecret()
    const verifier = new Webhook(secret)
    const headers = signWebhook({ id: ID, timestamp: now(), body: BODY, secrets: [secret] })
    const rejects = (body: Buffer, changed: Partial<typeof headers>) =>
      assert.throws(() => verifier.verify(body, { ...headers, ...changed }), /signature/i)
    rejects(Buffer.concat([BODY, Buffer.from(' ')]), {})
    rejects(BODY, { 'webhook-id': 'another' })
    rejects(BODY, { 'webhook-timestamp': String(now() + 5) })
    assert.throws(() => new Webhook(makeWebhookSecret()).verify(BODY, headers), /signature/i)
  })

  test('has the headers of the standard, whatever bytes it holds', () => {
    const key = Buffer.from(Array.from({ length: 32 }, (_, index) => index))
    const body = Buffer.from([0xff, 0x00, 0xc3])
    const secrets = [`whsec_${key.toString('base64')}`]
    const signed = Buffer.concat([Buffer.from('event.1700000000.'), body])
    const signature = createHmac('sha256', key).update(signed).digest('base64')
    assert.deepEqual(signWebhook({ id: 'event', timestamp: 1_700_000_000.9, body, secrets }), {
      'webhook-id': 'event',
      'webhook-timestamp': '1700000000',
      'webhook-signature': `v1,${signature}`,
    })
  })
})

describe('a webhook secret', () => {
  test('is new each time, whsec_ and 32 bytes in Base64', () => {
    const secrets = Array.from({ length: 100 }, makeWebhookSecret)
    assert.equal(new Set(secrets).size, 100)
    for (const secret of secrets) {
      assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
      assert.equal(decodeWebhookSecret(secret).length, 32)
    }
  })

  test('of 24 to 64 bytes is taken', () => {
    for (const length of [24, 32, 64]) {
      const key = Buffer.alloc(length, 7)
      assert.deepEqual(decodeWebhookSecret(`whsec_${key.toString('base64')}`), key)
    }
  })

  const keyOf = (length: number): string => Buffer.alloc(length, 7).toString('base64')
  const wrong = ['', 'whsec_', 'x'.repeat(44), keyOf(32)]
  const keys = ['!'.repeat(44), keyOf(23), keyOf(65)]
  for (const secret of [...wrong, ...keys.map((key) => `whsec_${key}`)])
    test(`${JSON.stringify(secret.slice(0, 20))} of ${secret.length} characters is none`, () =>
      assert.throws(
        () => decodeWebhookSecret(secret),
        (error: Error) => /must be whsec_/.test(error.message) && !error.message.includes('=='),
      ))
})
