import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { MemberRole, withoutEmail } from '../../src/domain/registry/member.ts'
import { losesLastOwner, mayDo, mayRemoveMember } from '../../src/domain/registry/role.ts'
import type { PublisherAction } from '../../src/domain/registry/role.ts'

describe('the role table', () => {
  const ALL: MemberRole[] = ['owner', 'admin', 'member']
  const ADMINS: MemberRole[] = ['owner', 'admin']
  const OWNERS: MemberRole[] = ['owner']
  /** Every action there is: the type says so. */
  const TABLE: Record<PublisherAction, MemberRole[]> = {
    publish: ALL,
    create_node: ALL,
    edit_node: ALL,
    edit_version: ALL,
    list_members: ALL,
    read_findings: ALL,
    read_endpoints: ALL,
    create_token: ADMINS,
    list_tokens: ADMINS,
    revoke_token: ADMINS,
    trust_publisher: ADMINS,
    edit_publisher: ADMINS,
    manage_endpoints: ADMINS,
    set_member: OWNERS,
    remove_member: OWNERS,
    delete_node: OWNERS,
    delete_version: OWNERS,
    request_review: OWNERS,
  }
  for (const [action, roles] of Object.entries(TABLE) as [PublisherAction, MemberRole[]][])
    for (const role of [...MemberRole.enum, undefined]) {
      const may = role !== undefined && roles.includes(role)
      test(`${role ?? 'a stranger'} ${may ? 'may' : 'may not'} ${action}`, () =>
        assert.equal(mayDo(role, action), may))
    }

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
