import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import {
  isSuccess,
  validateRegistration,
  toHostNodeRow,
} from '../../../src/registry/domain/host-node-validation.ts'
import { HostNodeRegistration } from '../../../src/registry/domain/host-node.ts'
import { listEmptyIsAbsent } from '../../../src/platform/domain/schema-fields.ts'
import { makeValidator, onePerField } from '../../../src/platform/domain/validate.ts'

const validate = makeValidator(HostNodeRegistration, listEmptyIsAbsent(HostNodeRegistration))

const read = (body: unknown) => {
  const { value, issues } = validate(body)
  return {
    value,
    issues: onePerField(issues, validateRegistration(value as Record<string, unknown>)),
  }
}

const fields = (body: unknown): string[] => read(body).issues.map(({ field }) => field)

const show = (body: object): string => JSON.stringify(body).slice(0, 60)

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

  const TAKEN: object[] = [
    { nodes: {} },
    { success: false, reason: 'x' },
    { status: 'failed' },
    { nodes: {}, cloud_build_info: { build_id: 'x' } },
    { nodes: { ' a/b~c\n': { category: 'x' } } },
    { nodes: many(5_000) },
  ]
  for (const body of TAKEN)
    test(`may be ${show(body)}`, () => assert.deepEqual(read(body), { value: body, issues: [] }))

  test('keeps nulls inside a JSON value, and loses them elsewhere', () => {
    const input_types = { required: { x: ['INT', { default: null }] } }
    const { value, issues } = read({
      status: null,
      nodes: { A: { input_types, category: null, return_types: null, name: 'B', unknown: 1 } },
    })
    assert.deepEqual({ value, issues }, { value: { nodes: { A: { input_types } } }, issues: [] })
  })

  const REJECTED: [body: object, field: string][] = [
    [{}, '/nodes'],
    [{ nodes: null, success: true }, '/nodes'],
    [{ nodes: [] }, '/nodes'],
    [{ nodes: many(5_001) }, '/nodes'],
    [{ nodes: { '': {} } }, '/nodes'],
    [{ nodes: { ['é'.repeat(513)]: {} } }, '/nodes'],
    [{ nodes: {}, success: 'true' }, '/success'],
    [{ nodes: { A: 'x' } }, '/nodes/A'],
    [{ nodes: { 'a/b': { output_is_list: 'x' } } }, '/nodes/a~1b/output_is_list'],
    [{ nodes: { A: { output_is_list: [1] } } }, '/nodes/A/output_is_list/0'],
    [{ nodes: { A: { category: 'é'.repeat(65_537) } } }, '/nodes/A/category'],
    [{ nodes: { A: { input_types: 'é'.repeat(524_289) } } }, '/nodes/A/input_types'],
    [{ nodes: {}, reason: 'x'.repeat(2_001) }, '/reason'],
    [{ nodes: {}, cloud_build_info: { build_id: 5 } }, '/cloud_build_info/build_id'],
  ]
  for (const [body, field] of REJECTED)
    test(`is rejected for ${field} of ${show(body)}`, () => assert.deepEqual(fields(body), [field]))

  test('may have JSON text of 1 MiB', () =>
    assert.deepEqual(fields({ nodes: { A: { input_types: 'é'.repeat(524_288) } } }), []))
})

function many(size: number): object {
  return Object.fromEntries(Array.from({ length: size }, (_, at) => [`n${at}`, {}]))
}

describe('a host node that is stored', () => {
  test('has texts for JSON, and defaults', () => {
    const given = { category: 'x', input_types: '{ }' }
    assert.deepEqual(toHostNodeRow({ ...given, return_types: ['INT', null], return_names: 5 }), {
      ...given,
      deprecated: false,
      experimental: false,
      output_is_list: [],
      return_types: '["INT",null]',
      return_names: '5',
    })
  })
})
