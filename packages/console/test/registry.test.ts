import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'

import { countRows, cutRows, readCard } from '../src/host-node/inputs.ts'
import type { HostNode } from '../src/host-node/inputs.ts'
import { readJson } from '../src/host-node/read-json.ts'
import { groupChanges, marksOf } from '../src/registry/changes.ts'
import type { Change } from '../src/registry/changes.ts'
import type { components } from '../../client/src/generated/openapi.ts'
import {
  chooseInstall,
  explainInstalls,
  readLicense,
  writeInstall,
} from '../src/registry/standing.ts'
import { ROOT } from '../../../src/local/root.ts'

type Version = components['schemas']['NodeVersion']

const makeHostNode = (changes: Partial<HostNode> = {}): HostNode => ({
  host_node_name: 'LightMixer',
  deprecated: false,
  experimental: false,
  output_is_list: [],
  dynamic: [],
  policy: 'HostNodePolicyActive',
  ...changes,
})

/** Reads the card of a host node whose inputs are all required. */
const withInputs = (required: string, changes: Partial<HostNode> = {}) =>
  readCard(makeHostNode({ input_types: `{"required":${required}}`, ...changes }))

describe('JSON of packs', () => {
  test('keeps all names in their order, those of whole numbers, too', () => {
    const read = readJson(
      '{"b":1,"10":{"2":0,"1":0},"a\\":\\\\":[null,"x\\"y\\":"],"__proto__":{}}',
    )
    assert.ok(read instanceof Map)
    assert.deepEqual([...read.keys()], ['b', '10', 'a":\\', '__proto__'])
    assert.deepEqual([...(read.get('10') as Map<string, unknown>).keys()], ['2', '1'])
    assert.deepEqual(read.get('a":\\'), [null, 'x"y":'])
  })
  const deep = `${'['.repeat(3000)}${']'.repeat(3000)}`
  for (const text of ['', '{', '{"a":NaN}', '['.repeat(100_000), deep])
    test(`is undefined for ${text.slice(0, 10)}`, () => assert.equal(readJson(text), undefined))
  // Looking for the end from each quote would take longer than a file of tests may.
  test('takes no longer where a string has no end', () =>
    assert.equal(readJson(`{"${'\\"'.repeat(500_000)}`), undefined))
})

describe('a card', () => {
  test('has sockets before widgets, in the order of the pack, required ones first', () => {
    const { sockets, widgets, outputs } = readCard(
      makeHostNode({
        input_types:
          '{"optional":{"mask":["MASK"]},"required":{"steps":["INT",{"default":20}],"2":["IMAGE"],"1":["A, b"]},"hidden":{"id":"UNIQUE_ID"}}',
        return_types: '["IMAGE",["a","b"],"LATENT"]',
        return_names: '["picture",""]',
        output_is_list: [false, true],
      }),
    )
    const inputs = sockets.map((slot) => [slot.name, ...slot.types, slot.isOptional].join(' '))
    assert.deepEqual(inputs, ['2 IMAGE false', '1 A B false', 'mask MASK true'])
    assert.deepEqual(widgets.map(({ name, value }) => `${name} ${value}`).join(), 'steps 20')
    const results = outputs.map(({ name, type, isList }) => `${name} ${type} ${isList}`)
    assert.deepEqual(results, ['picture IMAGE false', 'COMBO COMBO true', 'LATENT LATENT false'])
  })

  const WIDGETS: [spec: string, kind: string, value: string][] = [
    ['["INT"]', 'number', '0'],
    ['["INT",{"default":18446744073709551615}]', 'number', '18446744073709552000'],
    ['["FLOAT",{"default":7}]', 'number', '7.0'],
    ['["FLOAT",{"default":1,"step":0.01}]', 'number', '1.00'],
    ['["FLOAT",{"default":1,"step":0}]', 'number', '1.0'],
    ['["FLOAT",{"default":"x"}]', 'number', 'x'],
    ['["BOOLEAN"]', 'toggle', 'false'],
    ['["BOOLEAN",{"default":true,"label_on":"yes"}]', 'toggle', 'yes'],
    ['["STRING"]', 'text', ''],
    ['["STRING",{"multiline":true,"default":"a"}]', 'area', 'a'],
    ['[["a","b"]]', 'combo', 'a'],
    ['[["a","b"],{"default":"b"}]', 'combo', 'b'],
    ['[[1.5,true]]', 'combo', '1.5'],
    ['["COMBO",{"options":["x"]}]', 'combo', 'x'],
    ['["COMBO"]', 'combo', ''],
  ]
  for (const [spec, kind, value] of WIDGETS)
    test(`${spec} is a widget of the kind ${kind} with ${JSON.stringify(value)}`, () => {
      const { widgets, sockets } = withInputs(`{"x":${spec}}`)
      assert.deepEqual([widgets[0]?.kind, widgets[0]?.value, sockets.length], [kind, value, 0])
    })

  const SOCKETS = ['["INT",{"forceInput":true}]', '["LORA_STACK"]', '["*"]', '[]', '[null]', '{}']
  for (const spec of SOCKETS)
    test(`${spec} is a socket`, () => assert.equal(withInputs(`{"x":${spec}}`).sockets.length, 1))

  for (const [input, rows] of [
    ['"seed":["INT"]', 2],
    ['"noise_seed":["INT"]', 2],
    ['"seed":["FLOAT"]', 1],
    ['"x":["INT",{"control_after_generate":true}]', 2],
    ['"seed":["INT",{"control_after_generate":false}]', 1],
  ] as const)
    test(`{${input}} has ${rows} rows`, () =>
      assert.equal(countRows(withInputs(`{${input}}`)), rows))

  test('knows an empty list from the machine of an empty list', () => {
    const choicesOf = (dynamic: string[]) =>
      withInputs('{"a":[[]],"b":[["x"]]}', { dynamic }).widgets.map(({ choices }) => choices)
    assert.deepEqual(choicesOf([]), [0, 1])
    assert.deepEqual(choicesOf(['input_types.a']), [undefined, 1])
    assert.deepEqual(choicesOf(['input_types']), [undefined, 1])
  })

  for (const text of ['', 'no JSON', '[]', '{"required":[]}', '{"optional":3}'])
    test(`says that inputs of the form ${JSON.stringify(text)} cannot be read`, () => {
      const card = readCard(makeHostNode({ input_types: text, return_types: '["IMAGE"]' }))
      assert.deepEqual(card.unread, [{ what: 'inputs', text }])
      assert.equal(card.outputs.length, 1)
    })

  test('is cut after so many rows', () => {
    const card = withInputs('{"a":["A"],"b":["B"],"c":["INT"],"d":["INT"]}', {
      return_types: '["A","A","A"]',
    })
    assert.equal(countRows(card), 5)
    const rowsOf = (max: number) => {
      const { sockets, outputs, widgets } = cutRows(card, max)
      return [sockets.length, outputs.length, widgets.length].join(' ')
    }
    assert.deepEqual([2, 4, 9].map(rowsOf), ['2 2 0', '2 3 1', '2 3 2'])
  })
})

/** The host's own colours: dark, light. */
const PALETTE: Record<string, [dark: string, light?: string]> = {
  canvas: ['#141414', '#d3d3d3'],
  'card-title': ['#333333', '#f7f7f7'],
  'card-body': ['#353535', '#f5f5f5'],
  'card-dot': ['#666666', '#cccccc'],
  'card-text': ['#a0a0a0', '#222222'],
  'slot-text': ['#aaaaaa', '#444444'],
  widget: ['#222222', '#d4d4d4'],
  'widget-edge': ['#666666', '#999999'],
  'widget-value': ['#dddddd', '#222222'],
  'widget-label': ['#999999', '#555555'],
  'toggle-on': ['#8899aa'],
  'toggle-off': ['#333333'],
  'type-other': ['#777788'],
  'type-CLIP': ['#ffd500', '#ffa726'],
  'type-CLIP_VISION': ['#a8dadc', '#5c6bc0'],
  'type-CLIP_VISION_OUTPUT': ['#ad7452', '#8d6e63'],
  'type-CONDITIONING': ['#ffa931', '#ef5350'],
  'type-CONTROL_NET': ['#6ee7b7', '#66bb6a'],
  'type-IMAGE': ['#64b5f6', '#42a5f5'],
  'type-LATENT': ['#ff9cf9', '#ab47bc'],
  'type-MASK': ['#81c784', '#9ccc65'],
  'type-MODEL': ['#b39ddb', '#7e57c2'],
  'type-STYLE_MODEL': ['#c2ffae', '#d4e157'],
  'type-VAE': ['#ff6e6e', '#ff7043'],
  'type-NOISE': ['#b0b0b0'],
  'type-GUIDER': ['#66ffff'],
  'type-SAMPLER': ['#ecb4b4'],
  'type-SIGMAS': ['#cdffcd'],
  'type-TAESD': ['#dcc274'],
}

test('cards have the colours of the host', () => {
  const css = readFileSync(join(ROOT, 'packages/console/src/host-node/palette.css'), 'utf8')
  const found = [
    ...css.matchAll(/--([\w-]+): (?:light-dark\((#\w{6}), (#\w{6})\)|(#\w{6}));/g),
  ].map(([, name, light, dark, both]) => [name, both === undefined ? [dark, light] : [both]])
  assert.deepEqual(Object.fromEntries(found), PALETTE)
})

describe('a comparison', () => {
  const change = (changes: Partial<Change>): Change => ({
    code: 'default_changed',
    level: 'safe',
    host_node: 'A',
    message: '.',
    ...changes,
  })

  test('changes are listed host node by host node, in the order of the service', () => {
    const changes = [
      change({ code: 'host_node_renamed', level: 'breaks', host_node: 'B', after: 'C' }),
      change({ level: 'may_break', input: 'steps' }),
      change({}),
      change({ code: 'host_node_added', host_node: 'C' }),
    ]
    const groups = groupChanges(changes, { level: undefined, search: undefined })
    const found = groups.map(({ changes: { length }, ...group }) => ({ ...group, changes: length }))
    const neither = { isGone: false, isNew: false, nameAfter: undefined }
    assert.deepEqual(found, [
      { ...neither, name: 'B', level: 'breaks', changes: 1, isGone: true, nameAfter: 'C' },
      { ...neither, name: 'A', level: 'may_break', changes: 2 },
      { ...neither, name: 'C', level: 'safe', changes: 1, isNew: true },
    ])
    const namesOf = (filter: Parameters<typeof groupChanges>[1]) =>
      groupChanges(changes, filter).map(({ name }) => name)
    assert.deepEqual(namesOf({ level: 'safe', search: undefined }), ['A', 'C'])
    assert.deepEqual(namesOf({ level: undefined, search: 'STEP' }), ['A'])
  })

  test('marks what is gone before, what has come after, and what has changed in both', () => {
    const node = (required: string, return_types: string) =>
      makeHostNode({ input_types: `{"required":${required}}`, return_types })
    const before = node('{"a":["INT"],"b":["IMAGE"],"old":["X"]}', '["IMAGE","MASK"]')
    const after = node('{"a":["INT"],"b":["MASK"],"now":["X"],"c":["INT"]}', '["IMAGE"]')
    const marks = marksOf(
      [
        change({ code: 'input_type_changed', input: 'b' }),
        change({ code: 'input_renamed', input: 'old', before: 'old', after: 'now' }),
        change({ code: 'widget_required', input: 'c' }),
        change({ code: 'output_removed', output: 1 }),
        change({ code: 'output_renamed', output: 0 }),
      ],
      before,
      after,
    )
    const read = (rows: ReadonlyMap<string | number, string>) => Object.fromEntries(rows)
    assert.deepEqual(read(marks.before.inputs), { b: 'changed', old: 'gone' })
    assert.deepEqual(read(marks.after.inputs), { b: 'changed', now: 'come', c: 'come' })
    assert.deepEqual(read(marks.before.outputs), { 0: 'changed', 1: 'gone' })
    assert.deepEqual(read(marks.after.outputs), { 0: 'changed' })
  })
})

describe('the latest version', () => {
  const makeVersion = (version: string, changes: Partial<Version> = {}) =>
    ({ node_id: 'n', version, status: 'NodeVersionStatusActive', ...changes }) as Version
  const latest = makeVersion('1.7.0')
  const flagged = makeVersion('1.8.0', { status: 'NodeVersionStatusFlagged' })
  const pending = makeVersion('1.8.0', { status: 'NodeVersionStatusPending' })
  const banned = makeVersion('1.8.0', { status: 'NodeVersionStatusBanned' })
  const old = makeVersion('1.8.0', { deprecated: true })
  const CASES: [newest: Version | undefined, current: Version | undefined, words?: string][] = [
    [latest, latest],
    [undefined, undefined, 'No versions published yet.'],
    [flagged, latest, '1.8.0 is flagged: 2 high-severity findings. Latest is 1.7.0.'],
    [pending, undefined, '1.8.0 is being checked. Nothing can be installed yet.'],
    [banned, latest, '1.8.0 is banned. Latest is 1.7.0.'],
    [old, latest, '1.8.0 is deprecated by its publisher. Latest is 1.7.0.'],
    [makeVersion('1.8.0-rc.1'), latest, '1.8.0-rc.1 is a pre-release. Latest is 1.7.0.'],
    [makeVersion('1.6.9'), latest, '1.6.9 has a lower number. Latest is 1.7.0.'],
  ]
  for (const [newest, current, words] of CASES)
    test(words ?? 'installs of the newest need no explanation', () =>
      assert.equal(explainInstalls(newest, current, 2), words),
    )

  test('a command has all its words', () => {
    const version = makeVersion('1.0.0', { downloadUrl: 'https://a/b' })
    assert.equal(writeInstall('get {node}@{version} {url}', version), 'get n@1.0.0 https://a/b')
  })

  for (const reads of ['public', 'members'] as const)
    test(`its command is one line where the registry is for ${reads}`, () => {
      const command = chooseInstall({ registry_reads: reads })
      assert.ok(!command.includes('\n'))
      assert.equal(command.includes('$KILN_API_KEY'), reads === 'members')
    })

  for (const [license, text] of [
    ['{"file": "LICENSE"}', 'see LICENSE'],
    ['{"text": "MIT"}', 'MIT'],
    ['MIT', 'MIT'],
    ['null', 'null'],
    ['{"file": 3}', '{"file": 3}'],
  ] as const)
    test(`the license ${license} is shown as ${text}`, () =>
      assert.equal(readLicense(license), text))
})
