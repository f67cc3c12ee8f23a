import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { Type } from 'typebox'

import {
  describeUnread,
  listUnread,
  listUnreadNames,
  unreadIssues,
} from '../../../src/platform/domain/unread.ts'

const Body = Type.Object({
  image: Type.String(),
  webhook_url: Type.Optional(Type.String()),
  scale_factor: Type.Optional(Type.String()),
  advanced_settings: Type.Optional(
    Type.Object({
      brightness: Type.Number(),
      whites: Type.Number(),
      tags: Type.Array(Type.String()),
    }),
  ),
  nodes: Type.Optional(
    Type.Object({}, { additionalProperties: Type.Object({ category: Type.String() }) }),
  ),
  translations: Type.Optional(Type.Unsafe<unknown>({})),
})

describe('a field that nothing reads', () => {
  for (const [body, field, meant] of [
    [{ webhookUrl: 'x' }, '/webhookUrl', '/webhook_url'],
    [{ 'Webhook-URL': 'x' }, '/Webhook-URL', '/webhook_url'],
    [{ callback_url: 'x' }, '/callback_url', '/webhook_url'],
    [{ imag: 'x' }, '/imag', undefined],
    [{ imagee: 'x' }, '/imagee', '/image'],
    [{ scale: '4x' }, '/scale', '/scale_factor'],
    [{ scaleFact: '4x' }, '/scaleFact', '/scale_factor'],
    [{ factor: '4x' }, '/factor', '/scale_factor'],
    [{ actor: '4x' }, '/actor', undefined],
    [{ settings: {} }, '/settings', '/advanced_settings'],
    [{ fact: '4x' }, '/fact', undefined],
    [
      { advanced_settings: { brightnes: 1 } },
      '/advanced_settings/brightnes',
      '/advanced_settings/brightness',
    ],
    [{ nodes: { 'a/b': { categori: 'x' } } }, '/nodes/a~1b/categori', '/nodes/a~1b/category'],
  ] as const)
    test(`is ${field}${meant === undefined ? '' : `, and means ${meant}`}`, () => {
      const unread = listUnread(Body, body)
      assert.deepEqual(
        unread.map((one) => [one.field, one.meant]),
        [[field, meant]],
      )
      const issues = unreadIssues(unread, false, { unread: 'ignored' }).map(
        ({ message }) => message,
      )
      assert.equal(issues.length, meant === undefined ? 0 : 1)
      if (meant !== undefined) assert.ok(issues[0]?.includes(`did you mean ${meant}?`), issues[0])
      assert.equal(unreadIssues(unread, true).length, 1)
    })

  test('is none that is null, of any type, or known', () => {
    const body = {
      image: 'x',
      other: null,
      nodes: { any: { category: 'x' } },
      translations: { x: { y: 1 } },
    }
    assert.deepEqual(listUnread(Body, body), [])
    assert.deepEqual(listUnread(Body, 'text'), [])
  })

  test('is found among the first hundred of a million', () => {
    const body = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`m${index}`, 1]))
    assert.equal(listUnread(Body, body).length, 100)
  })

  test('of a query is named with a question mark', () => {
    const unread = listUnreadNames(
      ['page', 'pageSize'],
      new URLSearchParams('page_size=5&x=1&page=2'),
    )
    assert.deepEqual(
      unread.map((one) => [one.field, one.meant]),
      [
        ['?page_size', '?pageSize'],
        ['?x', undefined],
      ],
    )
  })

  test('is none of two names that it is a part of, and that of another route for the same thing', () => {
    const meant = (known: string[], query: string) =>
      listUnreadNames(known, new URLSearchParams(query)).map((one) => one.meant)
    const known = ['host_version', 'frontend_version', 'state', 'pageSize', 'search']
    assert.deepEqual(meant(known, 'version=1'), [undefined])
    assert.deepEqual(meant(known, 'status=x&limit=5&q=a'), ['?state', '?pageSize', '?search'])
  })

  test('is rejected, but where clients send it back, or the route ignores what it does not know', () => {
    const schema = Type.Object({ name: Type.Optional(Type.String()) })
    const unread = listUnread(schema, { id: 1, ttl: null, Name: 1 }, true)
    const fieldsOf = (rules: object) => unreadIssues(unread, false, rules).map(({ field }) => field)
    assert.deepEqual(fieldsOf({ sentBack: ['id'] }), ['/ttl', '/Name'])
    assert.deepEqual(fieldsOf({ unread: 'ignored' }), ['/Name'])
  })

  test('is named in a header of 1 KiB at most, in ASCII', () => {
    assert.equal(describeUnread([]), undefined)
    const named = (names: string[]) =>
      describeUnread(names.map((field) => ({ field, meant: undefined, value: 1 })))
    assert.equal(named(['/a', '?ü,\n']), '/a, ?%C3%BC%2C%0A')
    const long = named(Array.from({ length: 100 }, () => `/${'a'.repeat(20)}`)) ?? ''
    assert.ok(long.length <= 1024 && long.endsWith(', ...'), long)
    assert.equal(named([`/${'a'.repeat(2000)}`]), '...')
  })

  test('keeps its value where the name may be one of a secret', () => {
    const [issue] = unreadIssues(listUnread(Type.Object({}), { personal_access_tokn: 'abc' }), true)
    assert.doesNotMatch(issue?.message ?? '', /abc/)
  })
})
