import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { Type } from 'typebox'

import { validateAliases } from '../../../src/platform/alias/table.ts'
import { makeOpen } from '../../../src/platform/alias/translation.ts'
import type { JsonResponse } from '../../../src/platform/http/route.ts'
import { makeRoute } from '../../support/routes.ts'

const table = validateAliases({
  paths: { plain: 'other' },
  members: { colour: 'color', items: 'entries' },
  values: { grey: 'gray' },
})
const Colour = Type.Object({
  colour: Type.Enum(['grey', 'red']),
  note: Type.Optional(Type.String()),
  free: Type.Optional(Type.Unknown()),
})
const Page = Type.Object({
  items: Type.Array(Type.Union([Colour, Type.Object({ id: Type.String() })])),
  byName: Type.Optional(Type.Unsafe({ type: 'object', additionalProperties: Colour })),
  total: Type.Optional(Type.Integer()),
})
const schemas = {
  body: { schema: Page, maxBytes: 1, memoryBytes: 1, deadlineMs: 1 },
  responses: { 200: { description: 'A page.', schema: Page } },
}
const openOf = (path: string, isNamed: boolean) => {
  const found = makeOpen(makeRoute('post', path, schemas), table)?.(isNamed)
  assert.ok(found)
  return found
}

const FREE = { colour: 'grey', items: 1 }
const KNOWN = {
  items: [{ colour: 'grey', note: 'grey', free: FREE }, { id: 'a' }],
  byName: { colour: { colour: 'red' } },
}
const OTHER = {
  entries: [{ color: 'gray', note: 'grey', free: FREE }, { id: 'a' }],
  byName: { colour: { color: 'red' } },
}
const BOTH = {
  items: [{ colour: 'grey', color: 'grey', note: 'grey', free: FREE }, { id: 'a' }],
  byName: { colour: { colour: 'red', color: 'red' } },
}

/** All of a response that is written piece by piece. */
const textOf = async ({ text = '', more }: JsonResponse): Promise<string> => {
  let all = text
  for await (const piece of more ?? []) all += piece
  return all
}

// eslint-disable-next-line typescript/require-await
async function* inPieces(...pieces: string[]) {
  yield* pieces
}

describe('a translation', () => {
  test('renames what a schema rules, in both directions, and nothing else', () => {
    const named = openOf('/plain', true)
    assert.deepEqual(named.body(OTHER), KNOWN)
    assert.deepEqual(named.response({ status: 200, body: KNOWN }).body, OTHER)
    assert.deepEqual(named.response({ status: 404, body: KNOWN }).body, KNOWN)
  })

  test('takes the names of the interface, too', () => {
    for (const isNamed of [true, false])
      assert.deepEqual(openOf(isNamed ? '/plain' : '/shared', isNamed).body(KNOWN), KNOWN)
  })

  test('shows both where the path shows nothing, and lists of records once', () => {
    const shared = openOf('/shared', false)
    assert.deepEqual(shared.response({ status: 200, body: KNOWN }).body, BOTH)
    assert.deepEqual(shared.body(OTHER), KNOWN)
  })

  test('is none for a path of the interface that has another name, or where nothing has one', () => {
    assert.equal(makeOpen(makeRoute('post', '/plain', schemas), table)?.(false), undefined)
    assert.equal(makeOpen(makeRoute('get', '/shared'), table), undefined)
  })

  test('counts the other name where both are given, and names the one that differs', () => {
    const shared = openOf('/shared', false)
    const body = {
      items: [
        { colour: 'red', color: 'gray' },
        { color: 'red', colour: 'red' },
      ],
    }
    assert.deepEqual(shared.body(body), { items: [{ colour: 'grey' }, { colour: 'red' }] })
    assert.deepEqual(shared.unread([]), [
      { field: '/items/0/colour', meant: undefined, value: 'red', reason: 'color counts' },
    ])
  })

  for (const [path, isNamed, shown] of [
    ['/plain', true, OTHER],
    ['/shared', false, BOTH],
  ] as const)
    test(`renames a list on ${path} that is written piece by piece`, async () => {
      const [first, second] = KNOWN.items.map((item) => JSON.stringify(item))
      const end = { byName: KNOWN.byName, total: 2 }
      const { response } = openOf(path, isNamed)
      const more = inPieces(`,${second}`, `,${first}`, `],${JSON.stringify(end).slice(1)}`)
      const text = await textOf(response({ status: 200, text: `{"items":[${first}`, more }))
      const list = Object.values(shown)[0] as unknown[]
      const whole = { ...shown, [Object.keys(shown)[0] ?? '']: [...list, list[0]], total: 2 }
      assert.deepEqual(JSON.parse(text), whole)
      const bare = Type.Array(Colour)
      const route = makeRoute('get', path, {
        responses: { 200: { description: '', schema: bare } },
      })
      const listed = { status: 200, text: `[${first}`, more: inPieces(`,${first}`, ']') }
      const opened = makeOpen(route, table)?.(isNamed)
      assert.ok(opened)
      assert.deepEqual(JSON.parse(await textOf(opened.response(listed))), [list[0], list[0]])
    })
})
