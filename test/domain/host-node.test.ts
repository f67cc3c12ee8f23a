import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import {
  isSuccess,
  judgeRegistration,
  toHostNodeRow,
} from '../../src/domain/registry/host-node-judge.ts'
import { HostNodeRegistration } from '../../src/domain/registry/host-node.ts'
import { listEmptyIsAbsent } from '../../src/domain/registry/registry-fields.ts'
import { makeValidator, onePerField } from '../../src/domain/shared/validate.ts'

const validate = makeValidator(HostNodeRegistration, listEmptyIsAbsent(HostNodeRegistration))

const read = (body: unknown) => {
  const { value, faults } = validate(body)
  return { value, faults: onePerField(faults, judgeRegistration(value as Record<string, unknown>)) }
}

const fields = (body: unknown): string[] => read(body).faults.map(({ field }) => field)

describe('a registration', () => {
  const OUTCOMES: [body: { success?: boolean; status?: string }, success: boolean][] = [
    [{}, true],
    [{ success: true, status: 'failed' }, true],
    [{ success: false, status: 'success' }, false],
    [{ status: 'FAILED' }, false],
    [{ status: 'Failed' }, false],
    [{ status: 'done' }, true],
    [{ status: '' }, true],
  ]
  for (const [body, success] of OUTCOMES)
    test(`of ${JSON.stringify(body)} is a ${success ? 'success' : 'failure'}`, () =>
      assert.equal(isSuccess(body), success))

  const TAKEN: [what: string, body: object][] = [
    ['a pack without nodes', { nodes: {} }],
    ['a failure without nodes', { success: false, reason: 'x' }],
    ['a failure by its status', { status: 'failed' }],
    ['a part of the build', { nodes: {}, cloud_build_info: { build_id: 'x' } }],
    ['a name with blanks and marks', { nodes: { ' a/b~c\n': { category: 'x' } } }],
    ['5,000 nodes', { nodes: many(5_000) }],
  ]
  for (const [what, body] of TAKEN)
    test(`may be ${what}`, () => assert.deepEqual(read(body), { value: body, faults: [] }))

  test('keeps nulls inside a JSON value, and loses them elsewhere', () => {
    const input_types = { required: { x: ['INT', { default: null }] } }
    const { value, faults } = read({
      status: null,
      nodes: { A: { input_types, category: null, return_types: null, name: 'B', unknown: 1 } },
    })
    assert.deepEqual({ value, faults }, { value: { nodes: { A: { input_types } } }, faults: [] })
  })

  const REFUSED: [what: string, body: object, ...fields: string[]][] = [
    ['nothing at all', {}, '/nodes'],
    ['null nodes', { nodes: null, success: true }, '/nodes'],
    ['a list of nodes', { nodes: [] }, '/nodes'],
    ['5,001 nodes', { nodes: many(5_001) }, '/nodes'],
    ['an empty name', { nodes: { '': {} } }, '/nodes'],
    ['a name of 513 characters', { nodes: { ['é'.repeat(513)]: {} } }, '/nodes'],
    ['a text for a success', { nodes: {}, success: 'true' }, '/success'],
    ['a node that is a text', { nodes: { A: 'x' } }, '/nodes/A'],
    [
      'flags of another type',
      { nodes: { 'a/b': { output_is_list: 'x' } } },
      '/nodes/a~1b/output_is_list',
    ],
    [
      'a list with another type',
      { nodes: { A: { output_is_list: [1] } } },
      '/nodes/A/output_is_list/0',
    ],
    [
      'a category too long',
      { nodes: { A: { category: 'é'.repeat(65_537) } } },
      '/nodes/A/category',
    ],
    [
      'JSON text too long',
      { nodes: { A: { input_types: 'é'.repeat(524_289) } } },
      '/nodes/A/input_types',
    ],
    ['a reason of 2,001', { nodes: {}, reason: 'x'.repeat(2_001) }, '/reason'],
    [
      'a build of another type',
      { nodes: {}, cloud_build_info: { build_id: 5 } },
      '/cloud_build_info/build_id',
    ],
  ]
  for (const [what, body, ...expected] of REFUSED)
    test(`is refused for ${what}`, () => assert.deepEqual(fields(body), expected))

  test('may have JSON text of 1 MiB', () =>
    assert.deepEqual(fields({ nodes: { A: { input_types: 'é'.repeat(524_288) } } }), []))
})

function many(size: number): object {
  return Object.fromEntries(Array.from({ length: size }, (_, at) => [`n${at}`, {}]))
}

describe('a host node that is stored', () => {
  test('has texts for JSON, and defaults', () => {
    assert.deepEqual(
      toHostNodeRow({
        category: 'x',
        input_types: '{ }',
        return_types: ['INT', null],
        return_names: 5,
      }),
      {
        category: 'x',
        deprecated: false,
        experimental: false,
        output_is_list: [],
        input_types: '{ }',
        return_types: '["INT",null]',
        return_names: '5',
      },
    )
  })
})
