import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { Type } from 'typebox'

import { makeQueryReader } from '../../../src/platform/http/serve/query.ts'
import { pluck } from '../../support/client.ts'

const read = makeQueryReader(
  Type.Object({
    size: Type.Integer({ minimum: 1, default: 10 }),
    'pager.token': Type.Optional(Type.String({ minLength: 1 })),
    states: Type.Optional(Type.Array(Type.Enum(['a', 'b', 'c']))),
    numbers: Type.Optional(Type.Array(Type.Integer())),
  }),
  ['pager.token'],
)

describe('a query whose lists are repeated names', () => {
  const read = makeQueryReader(
    Type.Object({ words: Type.Optional(Type.Array(Type.String())) }),
    ['words'],
    'repeated',
  )
  const GOOD: [string, object][] = [
    ['words=a,b', { words: ['a,b'] }],
    ['words=a&words=b%2Cc', { words: ['a', 'b,c'] }],
    ['words=&words=a', { words: ['a'] }],
    ['words=', {}],
    ['words[]=a', {}],
  ]
  for (const [query, value] of GOOD)
    test(`"${query}" is read`, () => {
      const { unread: _unread, ...given } = read(query)
      assert.deepEqual(given, { value, issues: [] })
    })
})

describe('a query that needs a name', () => {
  const read = makeQueryReader(Type.Object({ name: Type.String() }))
  for (const [query, expected] of [
    ['', '?name must be a string, but is absent'],
    ['name=a&name=b', '?name must be given once, got several values'],
  ] as const)
    test(`"${query}" is rejected for one reason`, () => {
      const messages = read(query).issues.map(({ message }) => message)
      assert.deepEqual(messages, [expected])
    })
})

describe('a query', () => {
  const GOOD: [string, object][] = [
    ['', { size: 10 }],
    ['size=5&other=1', { size: 5 }],
    ['states=a', { size: 10, states: ['a'] }],
    ['states=a&states=b', { size: 10, states: ['a', 'b'] }],
    ['states=a,b&states=c,a', { size: 10, states: ['a', 'b', 'c', 'a'] }],
    ['states=a%2Cb', { size: 10, states: ['a', 'b'] }],
    ['numbers=1,-2&numbers=3', { size: 10, numbers: [1, -2, 3] }],
    ['pager.token=x', { size: 10, 'pager.token': 'x' }],
    ['pager.token=', { size: 10 }],
  ]
  for (const [query, value] of GOOD)
    test(`"${query}" is read`, () => {
      const { unread: _unread, ...given } = read(query)
      assert.deepEqual(given, { value, issues: [] })
    })

  const BAD: [string, string[]][] = [
    ['size=5&size=5', ['?size must be given once, got several values']],
    ['size=5,6', ['?size must be a whole number of at least 1, got "5,6"']],
    [
      'states=a,x&states=y',
      ['?states/1 must be one of a, b, c, got "x"', '?states/2 must be one of a, b, c, got "y"'],
    ],
    ['states=', ['?states/0 must be one of a, b, c, got ""']],
    ['numbers=1,1.5', ['?numbers/1 must be a whole number, got "1.5"']],
  ]
  for (const [query, messages] of BAD)
    test(`"${query}" is rejected`, () => {
      const { issues } = read(query)
      assert.deepEqual(pluck(issues, 'message'), messages)
      for (const { field, message } of issues) assert.ok(message.startsWith(field), message)
    })
})
