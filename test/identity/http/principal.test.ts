import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import type { Caller } from '../../../src/platform/http/access/caller.ts'
import { accountOf, principalOf } from '../../../src/platform/http/access/principal.ts'

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
    ['203.0.113.7:41812', 'address:203.0.113.7'],
    ['[2001:db8:1:2::9]:41812', 'address:2001:db8:1:2::/64'],
    ['[2001:db8:1:2::9]', 'address:2001:db8:1:2::/64'],
    ['unknown', 'address:unknown'],
    ['x'.repeat(12_000), 'address:unknown'],
    [undefined, 'address:unknown'],
  ]
  for (const [address, expected] of ADDRESSES)
    test(`is the client’s at ${address?.slice(0, 40)}`, () =>
      assert.equal(principalOf(undefined, address), expected))

  test('is the user’s, who is no address whatever the id looks like', () => {
    for (const user of ['alice', '203.0.113.7', 'address:203.0.113.7'])
      assert.equal(principalOf(callerOf(user), '203.0.113.7'), `user:${user}`)
  })
})

describe('whom a request counts for', () => {
  const of = (address: string): string => accountOf(undefined, address)

  test('an account is the owner, or the network of the client, which it does not show', () => {
    assert.equal(accountOf(callerOf('alice'), '203.0.113.7'), 'alice')
    assert.match(of('203.0.113.7'), /^anonymous:[0-9a-f]{32}$/)
    assert.notEqual(of('203.0.113.7'), of('203.0.113.8'))
  })

  test('is the same for all addresses of an IPv6 network of 64 bits, and no other one', () => {
    assert.equal(of('2001:db8:1:2::1'), of('2001:db8:1:2:ffff::9'))
    assert.notEqual(of('2001:db8:1:2::1'), of('2001:db8:1:3::1'))
    assert.equal(of('::ffff:203.0.113.7'), of('203.0.113.7'))
  })
})
