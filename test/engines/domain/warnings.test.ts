import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'

import { parseJson } from '../../../src/engines/domain/template/graph.ts'
import { readTemplate } from '../../../src/engines/domain/template/template.ts'
import { listWarnings } from '../../../src/engines/domain/template/warnings.ts'
import { ROOT } from '../../../src/local/root.ts'
import { makePortrait } from '../../support/comfyui/custom.ts'

const warningsOf = (path: string, text: string): string[] => {
  const { template, issues } = readTemplate({ path, text })
  assert.deepEqual(issues, [])
  return listWarnings(template ?? assert.fail())
}

const load = (title = 'LoadImage'): string[] =>
  warningsOf('custom/a.json', makePortrait({ 1: ['LoadImage', { image: 'in.png' }, title] }))

const FIXED =
  'LoadImage has no mark, so every task gets "in.png": title it kiln:image to have callers give it'

describe('what a template may not mean', () => {
  for (const title of ['kiln image', 'kiln-image', 'kiln.image', 'Kiln_image', 'my kiln:image'])
    test(`is a file for all tasks, and a lost mark, under the title ${title}`, () => {
      const [lost, fixed, ...others] = load(title)
      assert.equal(lost, `node 1 "${title}": the title marks nothing; did you mean kiln:image?`)
      assert.equal(fixed, `node 1 "${title}": ${FIXED}`)
      assert.deepEqual(others, [])
    })

  test('is a file for all tasks under any title that is no mark', () => {
    assert.deepEqual(load('image'), [`node 1 "image": ${FIXED}`])
    assert.deepEqual(load(), [`node 1 "LoadImage": ${FIXED}`])
  })

  test('is said beside the errors of a file that cannot be used', () => {
    const text = makePortrait({ 1: ['LoadImage', { image: 'in.png' }, 'kiln image'] })
    const { issues } = readTemplate({ path: 'relight.json', text })
    assert.match(issues[0] ?? '', /^relight\.json: (?!warning)/)
    assert.deepEqual(issues.slice(-1), [`relight.json: warning: node 1 "kiln image": ${FIXED}`])
  })

  test('is a member that is one slip from a usual one', () => {
    const meant = 'node 1 "kiln:imgae": imgae is a member of its own; did you mean image?'
    assert.deepEqual(load('kiln:imgae'), [meant])
  })

  const PROMPT = (value: string) => ['PrimitiveString', { value }, 'kiln:prompt'] as const
  const portrait = (nodes: Parameters<typeof makePortrait>[0]): string[] =>
    warningsOf('custom/a.json', makePortrait(nodes))

  test('is one name on nodes that begin with different values, or that each load a file', () => {
    assert.deepEqual(portrait({ 6: PROMPT('hard light') }), [
      'node 6 "kiln:prompt": prompt sets value of node 4 "kiln:prompt", too, which has another value; is it a copy that needs another name?',
    ])
    assert.deepEqual(portrait({ 6: ['LoadImage', { image: 'in.png' }, 'kiln:image'] }), [
      'node 6 "kiln:image": image sets image of node 1 "kiln:image", too, which loads a file of its own; is it a copy that needs another name?',
    ])
  })

  test('is nothing where one name is for equal values, whatever their divisors, or for seeds', () => {
    const shared = {
      6: PROMPT('soft light'),
      7: ['PrimitiveInt', { value: 8 }, 'kiln:seed'],
      8: ['PrimitiveFloat', { value: 55 }, 'kiln:strength'],
    } as const
    assert.deepEqual(portrait(shared), [])
  })

  test('is two names for one input', () => {
    const title = 'kiln:seed, start=value'
    assert.deepEqual(portrait({ 5: ['PrimitiveInt', { value: 7 }, title] }), [
      `node 5 "${title}": value takes seed and start: where both are given, start counts`,
    ])
  })

  test('is nothing where a mark has a blank behind its colon, or a number', () => {
    for (const title of ['kiln: image', 'kiln:image2', 'kiln:photo'])
      assert.deepEqual(load(title), [])
  })

  test('is nothing of the workflows of the cases', () => {
    const folder = join(ROOT, 'deploy/comfyui/templates')
    for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
      if (path.endsWith('.json'))
        assert.deepEqual(warningsOf(path, readFileSync(join(folder, path), 'utf8')), [], path)
  })
})

describe('a text that is no JSON', () => {
  for (const [text, place] of [
    ['{"1": {"a": 1,\n  b: 2}}', 'line 2, column 3 cannot be read'],
    ['{"a": x}', 'line 1, column 7 cannot be read'],
    ['{"a": "x\\"', 'line 1, column 11 ends too early'],
    ['{"a": [1,]}', 'line 1, column 10 cannot be read'],
    ['{"1"', 'line 1, column 5 ends too early'],
    ['', 'line 1, column 1 ends too early'],
    ['{} {}', 'line 1, column 4 cannot be read'],
  ] as const)
    test(`is named by its place: ${JSON.stringify(text)}`, () => {
      assert.throws(() => parseJson(text), { message: `is not JSON: ${place}` })
    })
})
