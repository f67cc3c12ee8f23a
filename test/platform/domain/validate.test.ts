import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import fc from 'fast-check'
import { Type } from 'typebox'

import { fromText } from '../../../src/platform/domain/from-text.ts'
import { IMAGE_KINDS } from '../../../src/tasks/domain/image/image-kind.ts'
import type { ImageTaskKind } from '../../../src/tasks/domain/image/image-kind.ts'
import { makeValidator, sortIssues } from '../../../src/platform/domain/validate.ts'

const Level = Type.Optional(Type.Number({ maximum: 10, default: 5 }))
const Settings = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 5 }),
  note: Type.Optional(Type.String({ maxLength: 5 })),
  count: Type.Integer({ minimum: 1, maximum: 9, default: 3 }),
  share: Type.Optional(Type.Number({ minimum: 0 })),
  mode: Type.Enum(['fast', 'good'], { default: 'good' }),
  wanted: Type.Optional(Type.Boolean()),
  more: Type.Optional(Type.Object({ level: Level }, { default: {} })),
  list: Type.Optional(Type.Array(Type.Integer())),
  until: Type.Optional(Type.String({ format: 'date-time' })),
  id: Type.Optional(Type.String({ format: 'uuid' })),
  some: Type.Optional(Type.Array(Type.Integer(), { minItems: 1, maxItems: 3, uniqueItems: true })),
  any: Type.Optional(Type.Object({}, { minProperties: 1 })),
  above: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 2 })),
  either: Type.Optional(Type.Union([Type.Boolean(), Type.Integer({ minimum: 1 })])),
  file: Type.Optional(Type.String({ pattern: '^[a-z]+$', 'x-expectation': 'a word' })),
})
const validate = makeValidator(Settings, ['note'])

const messages = (given: unknown): string[] => validate(given).issues.map(({ message }) => message)

describe('a valid value', () => {
  test('gets its defaults, at every depth', () => {
    assert.deepEqual(validate({ name: 'a' }), {
      value: { name: 'a', count: 3, mode: 'good', more: { level: 5 } },
      issues: [],
    })
  })

  test('loses members that are unknown or null, at every depth', () => {
    const more = { level: null, other: { deep: 1 } }
    assert.deepEqual(validate({ name: 'a', count: null, other: 1, more }), validate({ name: 'a' }))
  })

  test('loses an empty text where it counts as absent', () => {
    assert.ok(!('note' in Object(validate({ name: 'a', note: '' }).value)))
    const expected = ['/name must be a string of 1 to 5 characters, got ""']
    assert.deepEqual(messages({ name: '' }), expected)
  })

  test('counts characters as code points', () => {
    assert.deepEqual(messages({ name: '🜂🜂🜂🜂🜂' }), [])
    assert.equal(messages({ name: '🜂🜂🜂🜂🜂🜂' }).length, 1)
  })

  test('takes a whole number written with a point', () => {
    assert.deepEqual(messages(JSON.parse('{"name": "a", "count": 5.0}')), [])
  })

  test('does not change what was given', () => {
    const given = { name: 'a', other: 1, more: { level: null } }
    const before = structuredClone(given)
    validate(given)
    assert.deepEqual(given, before)
  })
})

describe('an issue', () => {
  const CASES: [object, string][] = [
    [{}, '/name must be a string of 1 to 5 characters, but is absent'],
    [{ name: null }, '/name must be a string of 1 to 5 characters, got null'],
    [{ name: 5 }, '/name must be a string of 1 to 5 characters, got 5'],
    [{ note: 'abcdef' }, '/note must be a string of at most 5 characters, got "abcdef"'],
    [{ count: '5' }, '/count must be a whole number from 1 to 9, got "5"'],
    [{ count: 5.5 }, '/count must be a whole number from 1 to 9, got 5.5'],
    [{ count: 10 }, '/count must be a whole number from 1 to 9, got 10'],
    [{ count: true }, '/count must be a whole number from 1 to 9, got true'],
    [{ share: -0.1 }, '/share must be a number of at least 0, got -0.1'],
    [{ mode: 'Fast' }, '/mode must be one of fast, good, got "Fast"; did you mean fast?'],
    [{ mode: 'slow' }, '/mode must be one of fast, good, got "slow"'],
    [{ mode: '' }, '/mode must be one of fast, good, got ""'],
    [{ mode: 2 }, '/mode must be one of fast, good, got 2'],
    [{ wanted: 'true' }, '/wanted must be true or false, got "true"'],
    [{ more: [] }, '/more must be an object, got []'],
    [{ more: { level: 'x' } }, '/more/level must be a number of at most 10, got "x"'],
    [{ list: 5 }, '/list must be a list, got 5'],
    [{ list: [1, 'x'] }, '/list/1 must be a whole number, got "x"'],
    [
      { until: 'soon' },
      '/until must be an ISO 8601 date-time such as 2026-01-31T12:00:00Z, got "soon"',
    ],
    [{ id: 'zz' }, '/id must be an id in the form of a UUID, got "zz"'],
    [{ some: [] }, '/some must be a list of 1 to 3 items, each once, got []'],
    [{ some: [1, 1] }, '/some must be a list of 1 to 3 items, each once, got [1,1]'],
    [{ any: {} }, '/any must be an object of at least 1 member, got {}'],
    [{ above: 0 }, '/above must be a number above 0 and of at most 2, got 0'],
    [{ either: 0 }, '/either must be true or false or a whole number of at least 1, got 0'],
    [{ file: '../x' }, '/file must be a word, got "../x"'],
  ]
  for (const [given, message] of CASES)
    test(`an issue is reported as: ${message}`, () => {
      const isWhole = 'name' in given || message.includes('absent')
      assert.deepEqual(messages(isWhole ? given : { name: 'a', ...given }), [message])
    })

  test('of the whole value names the body', () => {
    for (const given of [5, 'x', [], null])
      assert.match(messages(given)[0] ?? '', /^the body must be an object, got /)
  })

  test('shows at most 80 characters of the value', () => {
    const [message = ''] = messages({ name: '🜂'.repeat(500) })
    assert.match(message, /got .{79}…$/u)
  })

  test('issues are reported once for each field, all of them, in the order of the members', () => {
    const last = { until: 5, list: ['x', 'y'], more: { level: 11 } }
    const { issues } = validate({ ...last, mode: 'x', share: 'x', count: 0, wanted: 1 })
    const fields = issues.map(({ field }) => field).join(' ')
    assert.equal(fields, '/name /count /share /mode /wanted /more/level /list/0 /list/1 /until')
  })

  test('issues of any number of members are reported', () => {
    const members = Array.from({ length: 50 }, (_, index) => [`m${index}`, Type.Boolean()])
    const many = makeValidator(Type.Object(Object.fromEntries(members)))
    assert.equal(many({}).issues.length, 50)
  })

  test('of a rule between members is left to that rule', () => {
    const text = Type.Optional(Type.String())
    const pair = Type.Object({ a: text, b: text }, { not: { required: ['a', 'b'] } })
    assert.deepEqual(makeValidator(pair)({ a: 'x', b: 'y' }).issues, [])
  })

  test('added by a rule takes its place among the others', () => {
    const code = 'validation_failed' as const
    const fields = ['/until', '/elsewhere', '/count', '/list/3']
    const issues = fields.map((field) => ({ field, message: field, code }))
    const sorted = sortIssues(Settings, issues).map(({ field }) => field)
    assert.deepEqual(sorted, ['/count', '/list/3', '/until', '/elsewhere'])
  })
})

describe('the body of an image task', () => {
  for (const kind of Object.keys(IMAGE_KINDS) as ImageTaskKind[]) {
    const { body } = IMAGE_KINDS[kind]
    const isValid = makeValidator(body, ['prompt'])

    test(`of kind ${kind} needs an image and nothing else`, () => {
      assert.deepEqual(isValid({ image: 'x' }).issues, [])
      assert.equal(
        isValid({})
          .issues.map(({ field }) => field)
          .join(),
        '/image',
      )
    })

    test(`of kind ${kind} is either taken or rejected with sentences, whatever it holds`, () => {
      const names = Object.keys((body as unknown as { properties: object }).properties)
      const member = fc.oneof(fc.jsonValue(), fc.double(), fc.string(), fc.integer())
      const members = fc.dictionary(fc.constantFrom(...names, 'other'), member)
      fc.assert(
        fc.property(members, (given) => {
          for (const { field, message } of isValid(given).issues)
            assert.ok(message.startsWith(`${field} must be `), message)
        }),
        { seed: 7, numRuns: 200 },
      )
    })
  }
})

describe('a text becomes', () => {
  const Query = Type.Object({
    page: Type.Integer(),
    share: Type.Number(),
    wanted: Type.Boolean(),
    name: Type.String(),
  })
  const CASES: [keyof typeof Query.properties, string, unknown][] = [
    ['page', '5', 5],
    ['page', '-5', -5],
    ['page', '1.5', '1.5'],
    ['page', '1e3', '1e3'],
    ['page', '0x10', '0x10'],
    ['page', ' 5', ' 5'],
    ['page', '5n', '5n'],
    ['page', '', ''],
    ['page', 'true', 'true'],
    ['page', '9'.repeat(20), '9'.repeat(20)],
    ['share', '1.5', 1.5],
    ['share', '.5', '.5'],
    ['wanted', 'true', true],
    ['wanted', '0', false],
    ['wanted', 'yes', 'yes'],
    ['name', '5', '5'],
  ]
  for (const [name, text, value] of CASES)
    test(`${JSON.stringify(value)} from "${text}" where ${name} is wanted`, () => {
      assert.deepEqual(fromText(Query, { [name]: text }), { [name]: value })
    })

  test('nothing when its name is unknown to the schema', () => {
    assert.deepEqual(fromText(Query, { other: '5' }), { other: '5' })
  })
})

describe('a map', () => {
  const Maps = Type.Object({
    labels: Type.Optional(
      Type.Unsafe({
        type: 'object',
        maxProperties: 3,
        propertyNames: { minLength: 1 },
        additionalProperties: Type.Object({
          text: Type.Optional(Type.String({ maxLength: 3 })),
          any: Type.Optional(Type.Unknown()),
        }),
        'x-expectation': 'an object of at most 3 labels',
      }),
    ),
    secret: Type.Optional(Type.String({ writeOnly: true })),
  })
  const validate = makeValidator(Maps)
  const messagesOf = (given: unknown) => validate(given).issues.map(({ message }) => message)

  test('has members of any name, with the rules of the map', () => {
    const labels = { 'a/b~\n': { text: 'x' }, constructor: {} }
    assert.deepEqual(validate({ labels }), { value: { labels }, issues: [] })
    const short = 'must be a string of at most 3 characters, got'
    const CASES: [labels: object, ...messages: string[]][] = [
      [
        { 'a/b': { text: 5 }, constructor: { text: 'long' } },
        `/labels/a~1b/text ${short} 5`,
        `/labels/constructor/text ${short} "long"`,
      ],
      [
        { a: {}, b: {}, c: {}, d: {} },
        '/labels must be an object of at most 3 labels, got {"a":{},"b":{},"c":{},"d":{}}',
      ],
      [{ a: 'x' }, '/labels/a must be an object, got "x"'],
    ]
    for (const [labels, ...messages] of CASES) assert.deepEqual(messagesOf({ labels }), messages)
  })

  test('loses unknown and null members, but not those inside a value of any type', () => {
    const any = { deep: [null, { x: null }] }
    const { value } = validate({ labels: { a: { any, text: null, other: 1 }, b: null } })
    assert.deepEqual(value, { labels: { a: { any } } })
  })

  test('a map leaves issues of its names to the rules beside the schema', () =>
    assert.deepEqual(messagesOf({ labels: { '': {} } }), []))

  test('and no message shows what is only written', () => {
    const expected = ['/secret must be a string, got something else']
    assert.deepEqual(messagesOf({ secret: { value: 'x' } }), expected)
  })
})
