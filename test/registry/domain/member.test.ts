import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { withoutEmail } from '../../../src/registry/domain/member.ts'

describe('a member as others see it', () => {
  const ANN = { id: 'u1', name: 'Ann' }
  const ODD = { id: '@ann', name: 'Ann @ home' }
  const CASES: [given: { id: string; name: string; email?: string }, seen: object][] = [
    [{ ...ANN, email: 'ann@example.com' }, ANN],
    [{ id: 'ann@example.com', name: 'Ann' }, { name: 'Ann' }],
    [{ id: 'auth|ann@example.com', name: 'ann@example.com' }, { name: '' }],
    [ODD, ODD],
  ]
  for (const [user, seen] of CASES)
    test(`shows ${JSON.stringify(seen)} of ${JSON.stringify(user)}`, () =>
      assert.deepEqual(withoutEmail({ id: 'm', role: 'admin', user }), {
        id: 'm',
        role: 'admin',
        user: seen,
      }))
})
