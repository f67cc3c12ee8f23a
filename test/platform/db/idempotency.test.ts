import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'

import {
  claimKey,
  releaseClaim,
  renewClaim,
  storeResponse,
} from '../../../src/platform/db/idempotency.ts'
import { useDatabase } from '../../support/stack.ts'

const SCOPE = { principal: 'user:alice', method: 'POST', path: '/a', key: 'k' }
const RESPONSE = { fingerprint: 'f', status: 200, headers: {}, body: null, encrypted: false }

const database = useDatabase()

test('a claim that was taken over does nothing more, also while the other one still runs', async () => {
  const { sql } = database
  const [lost, taken] = [randomUUID(), randomUUID()]
  const see = async () => [...(await sql`select claim, status, lease_until from idempotency`)]
  assert.deepEqual(await claimKey(sql, SCOPE, lost), { result: 'claimed' })
  assert.deepEqual(await claimKey(sql, SCOPE, taken), { result: 'in_flight' })
  await sql`update idempotency set lease_until = clock_timestamp()`
  assert.deepEqual(await claimKey(sql, SCOPE, taken), { result: 'claimed' })
  const before = await see()
  await renewClaim(sql, lost, SCOPE)
  await releaseClaim(sql, lost, SCOPE)
  assert.equal(await storeResponse(sql, lost, SCOPE, RESPONSE), false)
  assert.deepEqual(await see(), before)
  assert.equal(await storeResponse(sql, taken, SCOPE, RESPONSE), true)
  assert.deepEqual(await claimKey(sql, SCOPE, lost), { result: 'done', response: RESPONSE })
})
