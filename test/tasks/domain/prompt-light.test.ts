import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { Value } from 'typebox/value'

import { RelightSettings } from '../../../src/tasks/domain/image/image-settings.ts'
import { listRelightWarnings, readPrompt } from '../../../src/tasks/domain/image/prompt-light.ts'

describe('the light of a prompt', () => {
  /** Prompts with the signs of their slopes: left, top, middle, warmth and brightness. */
  const CASES: [prompt: string, ...signs: number[]][] = [
    ['warm evening sun from the left, deep shadow on the right', 1, 0, 0, 1, 0],
    ['shadow on the right', 1, 0, 0, 0, 0],
    ['light from the right with shadow on the left', -1, 0, 0, 0, 0],
    ['on the left a deep shadow', -1, 0, 0, 0, 0],
    ['warm light on the left and on the right darkness', 1, 0, 0, 1, -1],
    ['a ball on the left, sun from the right', -1, 0, 0, 0, 0],
    ['from the left', 1, 0, 0, 0, 0],
    ['dark room lit from above', 0, 1, 0, 0, -1],
    ['shadows underneath', 0, 1, 0, 0, 0],
    ['a campfire glowing behind the ball, the room in darkness', 0, 0, -1, 1, -1],
    ['rim light, neon', 0, 0, -1, -1, 0],
    ['window light on the (right:1.3)', -1, 0, 0, 0, 0],
  ]
  const sign = (slopes: number[]) => Math.sign(slopes.reduce((sum, slope) => sum + slope, 0))
  for (const [prompt, ...signs] of CASES)
    test(`of "${prompt}" comes from where its phrases say`, () => {
      const { across, down, around, warmth, brightness } = readPrompt(prompt)
      const tones = [Math.sign(warmth - 1), Math.sign(brightness - 1)]
      assert.deepEqual([...[across, down, around].map(sign), ...tones], signs)
      assert.ok(across.length < 2 && down.length < 2)
    })

  test('counts words of one effect once, at the highest weight', () => {
    assert.deepEqual(readPrompt('warm golden (sunset:1.4) lamp'), readPrompt('(warm:1.4)'))
  })
})

describe('warnings of a relight', () => {
  const CASES: [fields: object, warning: RegExp | undefined][] = [
    [{ prompt: 'a castle' }, /^nothing in the prompt was understood, so the picture is unchanged/],
    [{ prompt: 'a castle', style: 'clean' }, /^nothing .* so it changes nothing; .* warm, golden/],
    [{ prompt: ' ' }, /^there is no prompt, so the picture is unchanged/],
    [{}, /^there is no prompt/],
    [{ transfer_light_from_lightmap: 'https://example.com/a.png' }, undefined],
    [{ prompt: 'a castle by candlelight' }, undefined],
  ]
  for (const [given, warning] of CASES)
    test(`of ${JSON.stringify(given)} are ${String(warning ?? 'none')}`, () => {
      const fields = Value.Default(RelightSettings, { ...given }) as Record<string, unknown>
      const warnings = listRelightWarnings(fields)
      assert.equal(warnings.length, warning ? 1 : 0)
      if (warning) assert.match(warnings[0] ?? '', warning)
    })
})
