import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import type { Caller } from '../../src/http/access/auth.ts'
import { principalOf } from '../../src/http/access/principal.ts'

const callerOf = (user: string): Caller => ({ principal: user, owner: user, scheme: 'jwt' })

describe('whose keys a request’s key is among', () => {
  const ADDRESSES: [string | undefined, string][] = [
    ['203.0.113.7', 'address:203.0.113.7'],
    ['::ffff:203.0.113.7', 'address:203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', 'address:2001:db8:1:2::/64'],
    ['2001:0db8:0001:0002::9', 'address:2001:db8:1:2::/64'],
    ['2001:db8:1:3::9', 'address:2001:db8:1:3::/64'],
    ['::1', 'address:::/64'],
    ['fe80::1%eth0', 'address:fe80::/64'],
    [undefined, 'address:'],
  ]
  for (const [address, expected] of ADDRESSES)
    test(`is the client’s at ${address}`, () =>
      assert.equal(principalOf(undefined, address), expected))

  test('is the user’s, who is no address whatever the id looks like', () => {
    for (const user of ['alice', '203.0.113.7', 'address:203.0.113.7'])
      assert.equal(principalOf(callerOf(user), '203.0.113.7'), `user:${user}`)
  })
})
