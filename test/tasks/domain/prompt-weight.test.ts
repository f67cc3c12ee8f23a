import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import fc from 'fast-check'

import { parsePrompt } from '../../../src/tasks/domain/image/prompt-weight.ts'

describe('a prompt', () => {
  /** Each prompt with its parts, texts and weights in turn. */
  const CASES: [string, ...(string | number)[]][] = [
    [''],
    ['  '],
    ['warm light', 'warm light', 1],
    ['(warm light:1.2)', 'warm light', 1.2],
    ['(warm:1)', 'warm', 1],
    ['(warm:1.4)', 'warm', 1.4],
    ['(warm:1.40)', 'warm', 1.4],
    ['( warm : 1.3 )', 'warm', 1.3],
    ['a (warm:1.2) b', 'a ', 1, 'warm', 1.2, ' b', 1],
    ['(a:1.1)(b:1.3)', 'a', 1.1, 'b', 1.3],
    ['(a: b:1.1)', 'a: b', 1.1],
    ['(plain group) and text', '(plain group) and text', 1],
    ['((a:1.2))', '(', 1, 'a', 1.2, ')', 1],
    ['sunset: (sea) at 10:30', 'sunset: (sea) at 10:30', 1],
    ['open (a:1.2', 'open (a:1.2', 1],
    ['a:1.2)', 'a:1.2)', 1],
    ['(été:1.2)', 'été', 1.2],
  ]
  for (const [prompt, ...parts] of CASES)
    test(`${JSON.stringify(prompt)} has the parts ${JSON.stringify(parts)}`, () => {
      const found = parsePrompt(prompt)
      assert.deepEqual(found.issues, [])
      assert.deepEqual(
        found.parts.flatMap(({ text, weight }) => [text, weight]),
        parts,
      )
    })

  const WRONG_WEIGHTS = '1.5 0.9 1.4001 x  -1.2 +1.2 1,2 1. .5 1e0 Infinity'.split(' ')
  const WRONG = WRONG_WEIGHTS.map((weight) => `(word:${weight})`)
  for (const group of [...WRONG, '(:1.2)', '( :1.2)', '(at 10:30)'])
    test(`is rejected for ${group}, and the group is named`, () => {
      const { issues } = parsePrompt(`some (good:1.2) text ${group} more`)
      assert.equal(issues.length, 1)
      assert.ok(issues[0]?.endsWith(`got ${JSON.stringify(group)}`), issues[0])
      assert.match(issues[0] ?? '', /^must weight .* from 1 to 1\.4/)
    })

  test('is rejected for each wrong group', () => {
    assert.equal(parsePrompt('(a:2) (b:1.1) (c:0)').issues.length, 2)
  })

  test('is never taken apart so that a phrase is lost or a weight leaves its range', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'ab (:).14', '🜂') }), (prompt) => {
        const { parts, issues } = parsePrompt(prompt)
        assert.ok(parts.every(({ weight }) => weight >= 1 && weight <= 1.4))
        const letters = (text: string) => text.replace(/[^ab🜂]/gu, '')
        if (issues.length === 0)
          assert.equal(letters(parts.map(({ text }) => text).join('')), letters(prompt))
      }),
      { seed: 11, numRuns: 2000 },
    )
  })

  test('of 10,000 characters is read at once, however it is made', () => {
    for (const [text, times] of [
      ['(', 10_000],
      ['(:', 5000],
      ['(a:1.2)', 1400],
      [')', 10_000],
    ] as const)
      assert.ok(parsePrompt(text.repeat(times)).parts.length >= 0)
  })
})
