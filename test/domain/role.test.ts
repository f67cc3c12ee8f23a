import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { MEMBER_ROLES, withoutEmail } from '../../src/domain/registry/member.ts'
import type { MemberRole } from '../../src/domain/registry/member.ts'
import {
  PUBLISHER_ACTIONS,
  losesLastOwner,
  mayDo,
  mayRemoveMember,
} from '../../src/domain/registry/role.ts'
import type { PublisherAction } from '../../src/domain/registry/role.ts'

describe('the role table', () => {
  const TABLE: [actions: PublisherAction[], roles: MemberRole[]][] = [
    [
      ['publish', 'create_node', 'edit_node', 'edit_version', 'list_members', 'read_findings'],
      ['owner', 'admin', 'member'],
    ],
    [
      ['create_token', 'list_tokens', 'revoke_token', 'edit_publisher'],
      ['owner', 'admin'],
    ],
    [['set_member', 'remove_member', 'delete_node', 'delete_version', 'request_review'], ['owner']],
  ]
  for (const [actions, roles] of TABLE)
    for (const action of actions)
      for (const role of MEMBER_ROLES)
        test(`${role} ${roles.includes(role) ? 'may' : 'may not'} ${action}`, () =>
          assert.equal(mayDo(role, action), roles.includes(role)))

  test('has no other action, and nothing for those who are no member', () => {
    assert.deepEqual(
      PUBLISHER_ACTIONS,
      TABLE.flatMap(([actions]) => actions),
    )
    for (const action of PUBLISHER_ACTIONS) assert.equal(mayDo(undefined, action), false)
  })

  const REMOVALS: [role: MemberRole | undefined, userId: string, may: boolean][] = [
    ['owner', 'other', true],
    ['admin', 'other', false],
    ['member', 'other', false],
    ['member', 'self', true],
    ['admin', 'self', true],
    [undefined, 'self', false],
  ]
  for (const [role, userId, may] of REMOVALS)
    test(`${role ?? 'a stranger'} ${may ? 'may' : 'may not'} remove ${userId}`, () =>
      assert.equal(mayRemoveMember({ userId: 'self', role }, userId), may))
})

describe('the last owner', () => {
  const one = [
    { userId: 'a', role: 'owner' },
    { userId: 'b', role: 'admin' },
  ] as const
  const two = [...one, { userId: 'c', role: 'owner' }] as const
  const CASES: [string, readonly { userId: string; role: MemberRole }[], string, MemberRole?][] = [
    ['is not removed', one, 'a'],
    ['is not lowered', one, 'a', 'admin'],
  ]
  for (const [what, members, userId, role] of CASES)
    test(what, () => assert.equal(losesLastOwner(members, { userId, role }), true))

  const ALLOWED: typeof CASES = [
    ['one of two owners is removed', two, 'a'],
    ['one of two owners is lowered', two, 'c', 'member'],
    ['the last owner stays owner', one, 'a', 'owner'],
    ['another member is removed', one, 'b'],
    ['a user who is no member is removed', one, 'x'],
  ]
  for (const [what, members, userId, role] of ALLOWED)
    test(what, () => assert.equal(losesLastOwner(members, { userId, role }), false))
})

describe('a member as others see it', () => {
  const CASES: [given: { id: string; name: string; email?: string }, seen: object][] = [
    [
      { id: 'u1', name: 'Ann', email: 'ann@example.com' },
      { id: 'u1', name: 'Ann' },
    ],
    [{ id: 'ann@example.com', name: 'Ann' }, { name: 'Ann' }],
    [{ id: 'auth|ann@example.com', name: 'ann@example.com' }, { name: '' }],
    [
      { id: '@ann', name: 'Ann @ home' },
      { id: '@ann', name: 'Ann @ home' },
    ],
  ]
  for (const [user, seen] of CASES)
    test(`shows ${JSON.stringify(seen)} of ${JSON.stringify(user)}`, () =>
      assert.deepEqual(withoutEmail({ id: 'm', role: 'admin', user }), {
        id: 'm',
        role: 'admin',
        user: seen,
      }))
})
