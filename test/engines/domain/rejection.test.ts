import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { readRejection, type SentPrompt } from '../../../src/engines/domain/template/rejection.ts'
import type { Field } from '../../../src/engines/domain/template/fields.ts'
import { readTemplate } from '../../../src/engines/domain/template/template.ts'
import { makeGraph } from '../../support/comfyui/custom.ts'

const GRAPH = makeGraph({
  1: ['LoadImage', { image: 'in.png' }, 'kiln:image'],
  2: [
    'Tiles',
    { image: ['1', 0], size: 8, overlap: 2, model: 'hidden-model.safetensors' },
    'kiln:tile=size, edge/-10=overlap',
  ],
  3: ['Style', { image: ['2', 0], style: 'a-v1', note: 'soft' }, 'kiln:look=style, note'],
  9: ['SaveImage', { images: ['3', 0], filename_prefix: 'kiln' }, 'kiln:result'],
})

const FIELDS: Record<string, Field> = {
  image: { type: 'file' },
  tile: { type: 'number' },
  edge: { type: 'number' },
  look: { type: 'choice', choices: ['calm', 'wild', 'gone'] },
  note: { type: 'text' },
}

const makeSent = (settings: object, values = settings): SentPrompt => {
  const map = { values: { look: { calm: 'a-v1', wild: 'b-v1', gone: 'c-v1' } } }
  const file = { path: 'custom/tiles.json', text: GRAPH, map: JSON.stringify(map) }
  const { template, issues } = readTemplate(file)
  assert.deepEqual(issues, [])
  assert.ok(template)
  const marks = template.marks.map((mark) => ({ ...mark, field: FIELDS[mark.name] }))
  const prompt = structuredClone(template.graph)
  Object.assign(prompt['1']?.inputs ?? {}, { image: 'kiln/sent.png' })
  Object.assign(prompt['2']?.inputs ?? {}, { size: 33, overlap: 7 })
  Object.assign(prompt['3']?.inputs ?? {}, { style: 'c-v1', note: 'a caller wrote it' })
  const sent = { template: { ...template, marks }, prompt, settings, hidden: ['gpu-7.internal'] }
  return { ...sent, values: { ...values } }
}

const SETTINGS = { tile: 33, more: { edge: -70 }, look: 'gone', note: 'a caller wrote it' }
const SENT = makeSent(SETTINGS, { tile: 33, edge: -70, look: 'gone', note: SETTINGS.note })

/** An error as ComfyUI has it. */
const error = (type: string, input: string, { says = '', config = [] as unknown[] } = {}) => ({
  type,
  details: says === '' ? input : `${input} - ${says}`,
  extra_info: { input_name: input, input_config: config, received_value: 'secret' },
})

const reject = (errors: Record<string, object[]>, sent = SENT) =>
  readRejection(
    400,
    {
      node_errors: Object.fromEntries(
        Object.entries(errors).map(([id, errors]) => [id, { class_type: 'Tiles', errors }]),
      ),
    },
    sent,
  )

const CUSTOM = 'custom_validation_failed'

describe('the end of a prompt that is not taken', () => {
  const nodeError = (type: string, id = '1') => ({
    node_errors: { [id]: { class_type: 'X', errors: [{ type, details: 'secret' }] } },
  })
  for (const [status, body, wanted] of [
    [200, { prompt_id: 'a', node_errors: {} }, undefined],
    [500, {}, undefined],
    [503, {}, undefined],
    [413, {}, 'too_large'],
    [400, { error: { type: 'invalid_prompt', message: 'no node X' }, node_errors: {} }, 'unable'],
    [400, nodeError('value_not_in_list', '2'), 'unable'],
    [400, nodeError('required_input_missing', '2'), 'unable'],
    [400, nodeError(CUSTOM), 'input_missing'],
    [400, nodeError(CUSTOM, '2'), 'rejected'],
    [400, nodeError('value_bigger_than_max', '2'), 'rejected'],
    [200, nodeError('value_not_in_list', '2'), 'unable'],
  ] as const)
    test(`of ${status} ${JSON.stringify(body)} is ${wanted}`, () => {
      const found = readRejection(status, { ...body }, SENT)
      assert.equal(found?.failure, wanted)
      assert.equal(found?.advice, undefined)
      assert.ok(!JSON.stringify(found ?? '').includes('secret'))
    })

  test('is that of a lost upload where the check of a file says so, and of no other check of its node', () => {
    const lost = error(CUSTOM, 'image', { says: 'Invalid image file: kiln/a.png' })
    assert.equal(reject({ 1: [lost] })?.failure, 'input_missing')
    assert.equal(reject({ 1: [error(CUSTOM, 'image')] })?.failure, 'input_missing')
    assert.equal(reject({ 1: [error(CUSTOM, 'channel')] })?.failure, 'rejected')
  })
})

describe('a caller of a rejected prompt', () => {
  const CASES: [what: string, node: number, error: object, advice: string][] = [
    [
      'what a check of a file that is there says',
      1,
      error(CUSTOM, 'image', { says: 'kiln/sent.png must be square' }),
      '/image is rejected by a check of the workflow: the file must be square',
    ],
    [
      'the least number',
      2,
      error('value_smaller_than_min', 'size', { config: ['INT', { min: 64 }] }),
      '/tile must be at least 64',
    ],
    [
      'the greatest number, in its own measure and at the end of a member within another',
      2,
      error('value_smaller_than_min', 'overlap', { config: ['FLOAT', { min: 8.5 }] }),
      '/more/edge must be at most -85',
    ],
    [
      'a range that is not said',
      2,
      error('value_bigger_than_max', 'size'),
      '/tile is outside of its range',
    ],
    [
      'the choices by the names of the interface',
      3,
      error('value_not_in_list', 'style', { config: [['a-v1', 'b-v1', 'hidden'], {}] }),
      '/look must be one of calm, wild',
    ],
    [
      'the choices of a class of the new kind',
      3,
      error('value_not_in_list', 'style', { config: ['COMBO', { options: ['a-v1'] }] }),
      '/look must be one of calm',
    ],
    [
      'a choice that is gone from a list too long to be said',
      3,
      error('value_not_in_list', 'style'),
      '/look is no choice any more',
    ],
    [
      'the type',
      2,
      error('invalid_input_type', 'size', { config: ['INT', {}] }),
      '/tile must be a whole number',
    ],
    [
      'what a check says',
      2,
      error(CUSTOM, 'size', { says: 'must be a multiple of 8' }),
      '/tile is rejected by a check of the workflow: must be a multiple of 8',
    ],
    [
      'a check that says nothing',
      2,
      error(CUSTOM, 'size'),
      '/tile is rejected by a check of the workflow',
    ],
    [
      'an error of a type that is new',
      2,
      error('value_not_prime', 'size'),
      '/tile is not what the workflow takes',
    ],
  ]
  for (const [what, node, found, advice] of CASES)
    test(`reads the member and ${what}`, () => {
      const rejection = reject({ [node]: [found] })
      assert.equal(rejection?.failure, 'rejected')
      assert.equal(rejection.advice, advice)
      assert.ok(!rejection.detail.includes('secret'))
    })

  test('reads all members that are rejected, whatever else of the nodes is', () => {
    const says = 'too large for each other'
    const errors = ['size', 'overlap', 'model', 'image'].map((name) =>
      error(CUSTOM, name, { says }),
    )
    assert.equal(
      reject({ 2: errors })?.advice,
      `/tile is rejected by a check of the workflow: ${says}; /more/edge is rejected by a check of the workflow: ${says}`,
    )
  })

  test('reads no class, literal, address or text of whoever, though a check says them', () => {
    const says =
      'Tiles at gpu-7.internal and http://10.0.0.7:8188: hidden-model.safetensors of /srv/models/x cannot do "a caller wrote it", token=abc'
    const { advice = '' } = reject({ 2: [error(CUSTOM, 'size', { says })] }) ?? {}
    assert.match(advice, /^\/tile is rejected .*cannot do/)
    for (const word of ['Tiles', 'gpu-7', '10.0', 'hidden-model', 'srv', 'caller wrote', 'abc'])
      assert.ok(!advice.includes(word), `${word} in ${advice}`)
  })

  const MUTE: [what: string, errors: Record<string, object[]>, sent: SentPrompt, end: string][] = [
    ['an input that no mark names', { 2: [error('value_not_in_list', 'model')] }, SENT, 'unable'],
    [
      'a value that the graph has itself',
      { 2: [error('value_not_in_list', 'size')] },
      { ...SENT, prompt: SENT.template.graph },
      'unable',
    ],
    [
      'a value that the service has computed',
      { 2: [error(CUSTOM, 'size')] },
      makeSent({}),
      'rejected',
    ],
    [
      'a value in place of the one that was given',
      { 2: [error(CUSTOM, 'size')] },
      makeSent({ tile: 1 }, { tile: 33 }),
      'rejected',
    ],
    [
      'an input that is missing, beside a member',
      { 2: [error('required_input_missing', 'model'), error(CUSTOM, 'size')] },
      SENT,
      'unable',
    ],
  ]
  for (const [what, errors, sent, end] of MUTE)
    test(`reads nothing of ${what}`, () => {
      const rejection = reject(errors, sent)
      assert.deepEqual([rejection?.failure, rejection?.advice], [end, undefined])
    })
})

describe('an operator of a rejected prompt', () => {
  test('reads node, title, class, input and the kind of each value', () => {
    const { detail } = reject({
      2: [error(CUSTOM, 'size', { says: 'odd' }), error('return_type_mismatch', 'image')],
      3: [error('invalid_input_type', 'note')],
    }) ?? { detail: '' }
    assert.deepEqual(
      detail.split(', node ').map((part) => part.replace(/^node /, '')),
      [
        `2 "kiln:tile=size, edge/-10=overlap" Tiles, size (an integer): ${CUSTOM}`,
        '2 "kiln:tile=size, edge/-10=overlap" Tiles, image (a link): return_type_mismatch',
        '3 "kiln:look=style, note" Tiles, note (a string): invalid_input_type',
      ],
    )
    assert.ok(!detail.includes('caller'))
  })
})
