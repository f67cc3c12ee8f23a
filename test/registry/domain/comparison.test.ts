import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { CHANGE_CODES } from '../../../src/registry/domain/comparison/change.ts'
import type { ChangeCode } from '../../../src/registry/domain/comparison/change.ts'
import {
  compareLone,
  ofHostNode,
  summarise,
} from '../../../src/registry/domain/comparison/compare.ts'
import { compareHostNode } from '../../../src/registry/domain/comparison/host-node.ts'
import type { HostNodeText } from '../../../src/registry/domain/comparison/host-node-form.ts'
import { readJson, writeJson } from '../../../src/registry/domain/comparison/read-json.ts'

interface Given extends Partial<Omit<HostNodeText, 'input_types' | 'return_types'>> {
  /** JSON of the members of the section. */
  required?: string
  optional?: string
  types?: string
  input_types?: string
}

const node = ({ required = '', optional = '', types = '[]', ...given }: Given): HostNodeText => ({
  display_name: null,
  category: null,
  description: null,
  deprecated: false,
  experimental: false,
  output_node: null,
  input_types: `{"required":{${required}},"optional":{${optional}}}`,
  return_types: types,
  return_names: null,
  output_is_list: [],
  dynamic: [],
  policy: 'HostNodePolicyActive',
  ...given,
})

const I = '["INT"]'
const IMAGE = '["IMAGE"]'
const at = (level: string, ...codes: ChangeCode[]): string[] =>
  codes.map((code) => `${level} ${code}`)
const breaks = (...codes: ChangeCode[]) => at('breaks', ...codes)
const mayBreak = (...codes: ChangeCode[]) => at('may_break', ...codes)
const safe = (...codes: ChangeCode[]) => at('safe', ...codes)

/** A text is the JSON of the required inputs. */
type Form = string | Given
const read = (form: Form): HostNodeText =>
  node(typeof form === 'string' ? { required: form } : form)

const INT_A = '"a":["INT"]'
const MASK_A = '"a":["MASK"]'
const IMAGE_A = '"a":["IMAGE"]'
const FORCED_A = '"a":["INT",{"forceInput":true}]'
const BOUNDED_A = '"a":["INT",{"min":0,"max":9}]'
const DESCRIBED_A = '"a":["INT",{"default":2,"step":2,"tooltip":"t"}]'
const CHOICE_A = '"a":[["x"]]'
const COMBO_A = '"a":["COMBO",{"options":["x","y",1]}]'
const MACHINE_A = { required: CHOICE_A, dynamic: ['input_types.a'] }
const SEED_A = '"a":["INT",{"control_after_generate":true}]'
const UNSEEDED = '"seed":["INT",{"control_after_generate":false}]'
const B = '"b":["INT"]'
const SEEDED = `"seed":${I},${B}`
const AB = `${INT_A},${B}`
const UNREAD_B = { required: B, dynamic: ['input_types'] }
const MASK = '["MASK"]'
const TWO = '["IMAGE","MASK"]'
const optional = (inputs: string): Given => ({ optional: inputs })
const outputs = (types: string): Given => ({ types })
const listed = (isList: boolean): Given => ({ types: MASK, output_is_list: [isList] })
const named = (...names: string[]): Given => ({
  types: JSON.stringify(names.map(() => 'MASK')),
  return_names: JSON.stringify(names),
})
const UNREAD_OUTPUTS = { dynamic: ['return_types'] }
const removed = breaks('input_removed')
const socketAdded = breaks('socket_required')
const maybeRemoved = mayBreak('input_removed')
const inserted = breaks('widget_inserted')
const bothMoved = breaks('widget_moved', 'widget_moved')
const narrowed = mayBreak('input_type_narrowed')
const boundsNarrowed = mayBreak('bounds_narrowed')
const optionalAdded = safe('optional_input_added')
const optionalRemoved = mayBreak('optional_input_removed')
const optionAdded = safe('option_added')
const widgetAdded = [...inserted, ...safe('input_options_changed')]
const widgetRemoved = [...breaks('widget_removed'), ...safe('input_options_changed')]
const becameWidget = safe('socket_became_widget')
const becameSocket = breaks('widget_became_socket')
const nowRequired = mayBreak('input_now_required')
const options = safe('default_changed', 'step_changed', 'input_options_changed')
const outputAdded = safe('output_added')
const outputMayGo = mayBreak('output_removed')
const outputWidened = safe('output_type_widened')
const outputNarrowed = mayBreak('output_type_narrowed')
const retyped = breaks('output_type_changed')
const shifted = breaks('output_type_changed', 'output_removed')
const bothOutputsMoved = breaks('output_moved', 'output_moved')
const texts = ['category_changed', 'display_name_changed', 'description_changed'] as const

/** Two forms, and what one becoming the other and the other becoming the one does; the same if that is not said. */
const CASES: [title: string, Form, Form, there: string[], back?: string[]][] = [
  ['nothing', `"a":${I}`, `"a": ${I}`, []],
  ['a required socket', '', IMAGE_A, breaks('socket_required'), removed],
  ['an optional socket', '', optional(IMAGE_A), optionalAdded, optionalRemoved],
  ['a required widget behind all others', INT_A, AB, mayBreak('widget_required'), removed],
  ['a widget before others', optional(B), optional(AB), inserted, breaks('widget_removed')],
  [
    'an optional widget at the end',
    optional(B),
    optional(`${B},${INT_A}`),
    optionalAdded,
    optionalRemoved,
  ],
  ['a socket between widgets', AB, `${INT_A},"s":${IMAGE},${B}`, socketAdded, removed],
  ['the order of widgets with whole numbers as names', `${B},"1":${I}`, `"1":${I},${B}`, bothMoved],
  ['the row of a seed before others', AB, `${SEED_A},${B}`, widgetAdded, widgetRemoved],
  ['the row that a seed has by its name', `${UNSEEDED},${B}`, SEEDED, widgetAdded, widgetRemoved],
  ['a name', `${INT_A},"b":["STRING"]`, `"c":${I},"b":["STRING"]`, breaks('input_renamed')],
  ['name and type', MASK_A, `"c":${IMAGE}`, [...removed, ...socketAdded]],
  ['being required', optional(IMAGE_A), IMAGE_A, nowRequired, safe('input_now_optional')],
  ['a widget', FORCED_A, INT_A, becameWidget, becameSocket],
  ['a widget before others', `${FORCED_A},${B}`, AB, [...inserted, ...becameWidget], becameSocket],
  ['a type', MASK_A, IMAGE_A, breaks('input_type_changed')],
  ['more types', MASK_A, '"a":["IMAGE, mask"]', safe('input_type_widened'), narrowed],
  ['any type', MASK_A, '"a":["*"]', safe('input_type_widened'), narrowed],
  ['the kind of number', '"a":["FLOAT"]', INT_A, mayBreak('number_type_changed')],
  ['a choice', CHOICE_A, COMBO_A, optionAdded, breaks('option_removed')],
  [
    'a choice of the machine',
    MACHINE_A,
    '"a":[["x","y"]]',
    optionAdded,
    mayBreak('option_removed'),
  ],
  ['inputs read in part', UNREAD_B, `${IMAGE_A},${B}`, mayBreak('socket_required'), maybeRemoved],
  ['bounds', BOUNDED_A, '"a":["INT",{"max":9}]', safe('bounds_widened'), boundsNarrowed],
  ['bounds narrower at one end', BOUNDED_A, '"a":["INT",{"min":1,"max":20}]', boundsNarrowed],
  ['default, step and texts', '"a":["INT",{"default":1}]', DESCRIBED_A, options],
  ['an output at the end', outputs(IMAGE), outputs(TWO), outputAdded, breaks('output_removed')],
  ['an output before another', outputs(MASK), outputs(TWO), [...retyped, ...outputAdded], shifted],
  ['outputs of one type in another order', named('a', 'b'), named('b', 'a'), bothOutputsMoved],
  ['the name of an output', named('a'), named('b'), safe('output_renamed')],
  [
    'more types of an output',
    outputs(MASK),
    outputs('["MASK,IMAGE"]'),
    outputWidened,
    outputNarrowed,
  ],
  ['an output that becomes a list', listed(false), listed(true), mayBreak('output_list_changed')],
  ['outputs that were read in part', UNREAD_OUTPUTS, outputs(MASK), outputAdded, outputMayGo],
  [
    'flags and texts',
    { category: 'a', display_name: 'A' },
    {
      category: 'b',
      description: 'd',
      deprecated: true,
      experimental: true,
      policy: 'HostNodePolicyBanned',
    },
    [
      ...mayBreak('host_node_deprecated', 'host_node_banned'),
      ...safe('experimental_changed', ...texts),
    ],
    safe('host_node_undeprecated', 'host_node_allowed', 'experimental_changed', ...texts),
  ],
  [
    'an output node that is none any more',
    { output_node: true },
    { output_node: false },
    mayBreak('host_node_no_output'),
    safe('host_node_became_output'),
  ],
  ['an output node of which the other says nothing', { output_node: true }, {}, [], []],
  [
    'a policy that is lifted',
    { policy: 'HostNodePolicyLocalOnly' },
    {},
    safe('host_node_allowed'),
    mayBreak('host_node_local_only'),
  ],
  [
    'texts that are not of the form',
    { input_types: '{"required":{"a":', types: '{}' },
    { input_types: '[]', types: '1' },
    mayBreak('inputs_unreadable', 'outputs_unreadable'),
  ],
]

const seen = new Set<string>()

const validate = (before: Form, after: Form): string[] =>
  compareHostNode(read(before), read(after)).map(({ code, level, message }) => {
    seen.add(code)
    assert.match(message, /^[A-Z][^{}]+\.$/, message)
    return `${level} ${code}`
  })

describe('a change of a host node', () => {
  for (const [title, before, after, there, back = there] of CASES) {
    test(`by ${title} says what it does`, () => assert.deepEqual(validate(before, after), there))
    test(`back from ${title} does, too`, () => assert.deepEqual(validate(after, before), back))
  }

  const lone = (side: 'added' | 'removed', more: object = {}) => [
    { print: 'p', isConditional: false, name: side, side, ...more },
  ]
  const ADDED = lone('added')
  const nodeAdded = safe('host_node_added')
  for (const [title, given, isPartial, expected] of [
    [
      'that came and went',
      [...ADDED, ...lone('removed', { print: 'q' })],
      false,
      [...nodeAdded, ...breaks('host_node_removed')],
    ],
    [
      'that has another name',
      [...ADDED, ...lone('removed')],
      false,
      [...nodeAdded, ...breaks('host_node_renamed')],
    ],
    [
      'that the machine decides on',
      lone('removed', { isConditional: true }),
      false,
      mayBreak('host_node_removed'),
    ],
    ['that may only be unread', lone('removed'), true, mayBreak('host_node_removed')],
  ] as const)
    test(`as a whole, ${title}`, () => {
      const changes = compareLone(given, isPartial)
      for (const { code } of changes) seen.add(code)
      assert.deepEqual(
        changes.map(({ level, code }) => `${level} ${code}`),
        expected,
      )
    })

  test('has a case for each code', () => {
    // Checks of workflows alone have this one.
    const all = [...seen, 'host_node_replaced']
    assert.deepEqual(all.toSorted(), CHANGE_CODES.toSorted())
  })

  test('names what it is about, and what was there', () => {
    const ofType = (type: string) => node({ required: `"a\\"b":["${type}"]` })
    const [change] = compareHostNode(ofType('MASK'), ofType('IMAGE'))
    assert.deepEqual(change, {
      code: 'input_type_changed',
      level: 'breaks',
      input: 'a"b',
      before: 'MASK',
      after: 'IMAGE',
      message: 'The input "a\\"b" took "MASK" and takes "IMAGE".',
    })
  })

  test('counts outputs from one in its sentence, and names them', () => {
    const ofType = (type: string) =>
      node({ types: `["IMAGE","${type}"]`, return_names: '["image","darkest"]' })
    const [change] = compareHostNode(ofType('MASK'), ofType('LATENT'))
    assert.deepEqual(change, {
      code: 'output_type_changed',
      level: 'breaks',
      output: 1,
      before: 'MASK',
      after: 'LATENT',
      message: 'The output 2, "darkest", gave "MASK" and gives "LATENT".',
    })
  })
})

describe('all changes', () => {
  const of = (name: string, given: Given) =>
    compareHostNode(node({}), node(given)).map((change) => ofHostNode(name, change))

  test('are counted, the host node with the worst one first', () => {
    const given = [
      ...of('A', { category: 'x' }),
      ...of('C', { category: 'x', required: `"a":${IMAGE}` }),
      ...of('B', { deprecated: true }),
    ]
    const { verdict, counts, changes } = summarise(given, false)
    assert.deepEqual([verdict, counts], ['breaks', { breaks: 1, may_break: 1, safe: 2 }])
    assert.equal(
      changes.map(({ host_node: name, level }) => `${name} ${level}`).join(),
      'C breaks,C safe,B may_break,A safe',
    )
  })

  test('are safe when there are none, unless something may be unread', () => {
    assert.equal(summarise([], false).verdict, 'safe')
    assert.equal(summarise([], true).verdict, 'may_break')
  })

  test('changes are listed up to 2,000, and all counted', () => {
    const many = Array.from({ length: 2_500 }, (_, index) => of(`N${index}`, { category: 'x' }))
    const { counts, changes } = summarise(many.flat(), false)
    assert.deepEqual([counts.safe, changes.length], [2_500, 2_000])
  })
})

describe('what a hostile pack says', () => {
  /** So many that comparing each with each would take longer than a file of tests may. */
  const list = (start: string, many = 150_000) =>
    Array.from({ length: many }, (_, index) => `${start}${index}`)
  const types = JSON.stringify(list('').fill('A'))
  const open = `"${String.raw`\"`.repeat(500_000)}`
  const deep = (type: string) => `"a":["${type}",{"x":${'['.repeat(5000)}${']'.repeat(5000)}}]`

  const manyTypes = (start: string) => ({ types: JSON.stringify([list(start).join()]) })
  const manyNames = (start: string) => ({ types, return_names: JSON.stringify(list(start)) })

  const hostile: [title: string, Given, Given][] = [
    ['many types of an output', manyTypes('A'), manyTypes('B')],
    ['many names of outputs', manyNames('a'), manyNames('b')],
    ['a string without an end', { input_types: open }, { input_types: `${open}\\"` }],
    ['lists that are too deep to be written', { required: deep('A') }, { required: deep('B') }],
  ]
  for (const [title, before, after] of hostile)
    test(`holds nobody up: ${title}`, () =>
      assert.ok(compareHostNode(node(before), node(after)).length > 0))

  test('holds nobody up: many dynamic inputs', () => {
    let reads = 0
    const dynamic = new Proxy(list('input_types.i', 1000), {
      get(target, key) {
        reads += 1
        assert.ok(reads < 10_000, 'the list is read once, not for each input')
        return Reflect.get(target, key) as unknown
      },
    })
    const inputs = (type: string) => list('i', 1000).map((name) => `"${name}":["${type}"]`)
    const [before, after] = ['A', 'B'].map((type) =>
      node({ required: inputs(type).join(), dynamic }),
    )
    assert.ok(before && after && compareHostNode(before, after).length > 0)
  })
})

describe('JSON', () => {
  for (const text of [
    '{"b":1,"2":{"1":[true,null,"x:\\":"]},"__proto__":{},"a\\":":-1.5e-7}',
    '[]',
    '"a"',
  ])
    test(`keeps the order of its names: ${text}`, () => {
      const value = readJson(text)
      assert.ok(value !== undefined)
      assert.equal(writeJson(value), text)
    })

  const deep = ['['.repeat(1e6), '['.repeat(1e5) + ']'.repeat(1e5)]
  for (const text of ['', '{"a":}', "{'a':1}", ...deep])
    test(`is not ${text.slice(0, 10)}`, () => assert.equal(readJson(text), undefined))
})
