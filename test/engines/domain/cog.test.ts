import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { listEngineIssues, readEngineItem } from '../../../src/engines/domain/cog/engine-item.ts'
import { listOutputs, type Shape } from '../../../src/engines/domain/cog/output.ts'
import {
  endOfLogs,
  readPercent,
  readPrediction,
} from '../../../src/engines/domain/cog/prediction.ts'
import { readEngineSchema } from '../../../src/engines/domain/cog/schema.ts'
import { makeCustomKind } from '../../../src/engines/domain/template/custom-kind.ts'

const documentOf = (properties: object, more: object = {}, schemas: object = {}) => ({
  openapi: '3.0.2',
  components: {
    schemas: {
      Input: { type: 'object', properties, ...more },
      Output: { type: 'string', format: 'uri' },
      ...schemas,
    },
  },
})

/** As cog 0.23.1 writes them. */
const COG = documentOf(
  {
    prompt: { type: 'string', title: 'Prompt', 'x-order': 1, description: 'What it shows.' },
    image: { type: 'string', format: 'uri', 'x-order': 0, description: 'The picture.' },
    driving_video: { type: 'string', format: 'uri', 'x-order': 5, nullable: true },
    scale: { type: 'number', minimum: 1, maximum: 8, default: 2, 'x-order': 2 },
    steps: { allOf: [{ $ref: '#/components/schemas/steps' }], default: 20, 'x-order': 3 },
    mode: { allOf: [{ $ref: '#/components/schemas/mode' }], default: 'soft', 'x-order': 4 },
    tiled: { type: 'boolean', default: false, 'x-order': 6 },
    seed: { anyOf: [{ type: 'integer' }, { type: 'null' }], 'x-order': 7 },
    masks: { type: 'array', items: { type: 'string', format: 'uri' }, 'x-order': 8 },
    words: { type: 'array', items: { type: 'string', maxLength: 9 }, 'x-order': 9 },
    sigmas: {
      type: 'array',
      items: { type: 'number', minimum: 0 },
      minItems: 1,
      maxItems: 4,
      'x-order': 10,
    },
    modes: { type: 'array', items: { $ref: '#/components/schemas/mode' }, 'x-order': 11 },
  },
  { required: ['prompt', 'image'] },
  {
    steps: { type: 'integer', enum: [10, 20], title: 'steps', description: 'An enumeration.' },
    mode: { type: 'string', enum: ['soft', 'hard'], title: 'mode' },
  },
)

describe('the openapi.json of an engine', () => {
  test('gives the fields of a kind, with types, ranges, choices and defaults, in its order', () => {
    const { schema, issues } = readEngineSchema(COG)
    assert.deepEqual(issues, [])
    const members = Object.entries(schema?.members ?? {}).map(
      ([name, { description: _text, ...rule }]) => [name, rule],
    )
    assert.deepEqual(members, [
      ['image', { 'x-media': 'image', required: true }],
      ['prompt', { type: 'string', maxLength: 10_000, required: true }],
      ['scale', { type: 'number', minimum: 1, maximum: 8, default: 2, required: false }],
      ['steps', { type: 'integer', enum: [10, 20], default: 20, required: false }],
      ['mode', { type: 'string', enum: ['soft', 'hard'], default: 'soft', required: false }],
      ['driving_video', { 'x-media': 'video', required: false }],
      ['tiled', { type: 'boolean', default: false, required: false }],
      ['seed', { type: 'integer', required: false }],
      ['masks', { type: 'array', items: { 'x-media': 'image' }, maxItems: 16, required: false }],
      [
        'words',
        {
          type: 'array',
          items: { type: 'string', maxLength: 9 },
          maxItems: 1000,
          required: false,
        },
      ],
      [
        'sigmas',
        {
          type: 'array',
          items: { type: 'number', minimum: 0 },
          minItems: 1,
          maxItems: 4,
          required: false,
        },
      ],
      [
        'modes',
        {
          type: 'array',
          items: { type: 'string', enum: ['soft', 'hard'] },
          maxItems: 1000,
          required: false,
        },
      ],
    ])
    assert.deepEqual(schema?.output, { is: 'file' })
    const { body } = makeCustomKind({ id: 1, name: 'enhance', members: schema?.members ?? {} })
    const { required, properties } = body as unknown as {
      required: string[]
      properties: Record<string, Record<string, unknown>>
    }
    assert.deepEqual(required, ['image', 'prompt'])
    assert.deepEqual(properties['steps']?.['enum'], [10, 20])
    assert.equal('required' in (properties['steps'] ?? {}), false)
  })

  test('gives lists of pictures and of videos, of as many as one task may have', () => {
    const uri = { type: 'string', format: 'uri' }
    const { schema } = readEngineSchema(
      documentOf(
        {
          pictures: { type: 'array', items: uri, minItems: 2, maxItems: 99 },
          parts: { type: 'array', items: uri, description: 'Clips to join.' },
        },
        { required: ['pictures', 'parts'] },
      ),
    )
    const kind = makeCustomKind({ id: 1, name: 'join', members: schema?.members ?? {} })
    assert.deepEqual([kind.images, kind.videos], [['pictures'], ['parts']])
    assert.deepEqual(kind.lists, ['pictures', 'parts'])
    const { properties } = kind.body as unknown as {
      properties: Record<string, { minItems?: number; maxItems?: number }>
    }
    const bounds = kind.lists?.map((name) => properties[name])
    assert.deepEqual(
      bounds?.map((list) => [list?.minItems, list?.maxItems]),
      [
        [2, 16],
        [1, 16],
      ],
    )
  })

  const UNUSABLE: [what: string, document: Record<string, unknown>, issue: RegExp][] = [
    ['has no schemas', { openapi: '3.0.2' }, /no schemas of Input and Output/],
    [
      'needs a list',
      documentOf({ images: { type: 'array', items: {} } }, { required: ['images'] }),
      /^images is a list of what no field can be/,
    ],
    [
      'needs more files than a task may have',
      documentOf(
        { images: { type: 'array', items: { type: 'string', format: 'uri' }, minItems: 17 } },
        { required: ['images'] },
      ),
      /^images is a list of more than 16 items/,
    ],
    [
      'needs a sound',
      documentOf({ audio: { type: 'string', format: 'uri' } }, { required: ['audio'] }),
      /^audio is a file of a kind that no field takes/,
    ],
    [
      'needs what has the name of an option',
      documentOf({ webhook_url: { type: 'string' } }, { required: ['webhook_url'] }),
      /^webhook_url is a name of the service's own/,
    ],
    [
      'refers to elsewhere',
      documentOf(
        { mode: { allOf: [{ $ref: 'https://example.com/schema.json' }] } },
        { required: ['mode'] },
      ),
      /^mode is of type any/,
    ],
    [
      'refers to itself',
      documentOf(
        { mode: { $ref: '#/components/schemas/mode' } },
        { required: ['mode'] },
        { mode: { $ref: '#/components/schemas/mode' } },
      ),
      /^mode is of type any/,
    ],
    [
      'has members without end',
      documentOf(Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`a${n}`, {}]))),
      /101 members/,
    ],
  ]
  for (const [what, document, issue] of UNUSABLE)
    test(`makes no kind where it ${what}`, () => {
      const { issues } = readEngineSchema(document)
      assert.match(String(issues[0]), issue)
    })
})

describe('an output', () => {
  const file: Shape = { is: 'file' }
  const TABLE: [what: string, output: unknown, shape: Shape, made: object[]][] = [
    ['a file', 'https://a/b.png', file, [{ url: 'https://a/b.png' }]],
    ['a text', 'https://a/b.png', { is: 'text' }, [{ text: 'https://a/b.png' }]],
    ['a number', 4, { is: 'any' }, [{ text: '4' }]],
    ['nothing', null, file, []],
    [
      'a list of files',
      ['data:,a', 'data:,b'],
      { is: 'list', items: file, isText: false },
      [{ url: 'data:,a' }, { url: 'data:,b' }],
    ],
    [
      'a text in parts',
      ['a', 'b'],
      { is: 'list', items: { is: 'text' }, isText: true },
      [{ text: 'ab' }],
    ],
    [
      'an object, whose names are those of files where they can be',
      { picture: 'data:,a', 'b/../c': 'data:,b', result: 'data:,c' },
      { is: 'object', members: { picture: file, 'b/../c': file, result: file } },
      [{ name: 'picture', url: 'data:,a' }, { url: 'data:,b' }, { url: 'data:,c' }],
    ],
    [
      'what the schema does not say: data URLs are files',
      ['data:,a', 'http://10.0.0.1/'],
      { is: 'any' },
      [{ url: 'data:,a' }, { text: 'http://10.0.0.1/' }],
    ],
  ]
  for (const [what, output, shape, made] of TABLE)
    test(`is read: ${what}`, () => assert.deepEqual(listOutputs(output, shape), made))
})

describe('a prediction', () => {
  test('is none of another id, or without a status', () => {
    assert.equal(readPrediction({ id: 'b', status: 'succeeded' }, 'a'), undefined)
    assert.equal(readPrediction({ id: 'a' }, 'a'), undefined)
    assert.equal(readPrediction({ status: 'succeeded' }, 'a')?.status, 'succeeded')
  })

  test('is as far as the last line of tqdm says', () => {
    assert.equal(readPercent(''), 0)
    assert.equal(readPercent(' 10%|#  | 1/10\r 50%|###| 5/10\nloading'), 50)
    assert.equal(readPercent('999%|#'), 100)
  })

  test('has logs as a terminal shows them, cut to their end', () => {
    assert.equal(endOfLogs('a\r\nb\rc\n'), 'a\nc\n')
    assert.equal(endOfLogs(`${'x'.repeat(10_000)}\nend`).length, 4000)
    assert.ok(!/^[\udc00-\udfff]/.test(endOfLogs(`${'\u{1f600}'.repeat(4000)}x`)))
  })
})

describe('an item of ENGINES_HTTP', () => {
  test('names an engine, its instances and options', () => {
    const { item } = readEngineItem('enhance=http://a:5000  https://b|depth=2|held|resubmit=never')
    assert.deepEqual(item, {
      name: 'enhance',
      instances: [
        { name: 'enhance@a:5000', url: 'http://a:5000', depth: 2 },
        { name: 'enhance@b', url: 'https://b', depth: 2 },
      ],
      isSynchronous: true,
      resubmits: false,
    })
    assert.deepEqual(readEngineItem('a=http://a').item?.instances[0]?.depth, 1)
  })

  const WRONG = [
    ['enhance', 'must be engines with addresses'],
    ['Enhance=http://a', 'must be engines with addresses'],
    ['enhance=http://a/path', 'must be engines with addresses'],
    ['enhance=http://user@a', 'must be engines with addresses'],
    ['enhance=ftp://a', 'must be engines with addresses'],
    ['upscale=http://a', 'must not name an engine upscale'],
    ['comfyui=http://a', 'must not name an engine comfyui'],
    ['img2video=http://a', 'must not name an engine img2video'],
    ['enhance=http://a|depth=0', 'must have options'],
    ['enhance=http://a|hold', 'must have options'],
  ] as const
  for (const [text, issue] of WRONG)
    test(`is rejected: ${text}`, () => {
      assert.match(String(listEngineIssues([text])[0]), new RegExp(`^${issue}`))
    })

  test('has a name and an address that no other has', () => {
    assert.deepEqual(listEngineIssues(['a=http://a', 'a=http://b', 'b=http://c http://c']), [
      'names a twice',
      'names b@c twice',
    ])
  })
})
