import assert from 'node:assert/strict'
import { test } from 'node:test'

import { hashPassword } from '../../../src/identity/adapters/password.ts'

test('passwords of one address wait for each other, one of another for no more than a turn', async () => {
  const [done, rejected]: [string[], string[]] = [[], []]
  const hash = (name: string, address: string) =>
    hashPassword({ password: name, address }).then(
      () => done.push(name),
      () => rejected.push(name),
    )
  const names = Array.from({ length: 30 }, (_, index) => `guess ${index + 1}`)
  const all = [...names.map((name) => hash(name, '203.0.113.1')), hash('own', '198.51.100.1')]
  await Promise.all(all)
  // Two run from the start, and the address has the first turn behind them; two that run at once end in any order.
  assert.ok(done.indexOf('own') <= 4, done.join())
  // On a slow machine those who wait for the longest are rejected, too.
  assert.deepEqual(rejected.slice(0, 10), names.slice(20))
})
