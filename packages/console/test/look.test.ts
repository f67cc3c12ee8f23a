import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'

import { ROOT } from '../../../src/local/root.ts'

const css = readFileSync(join(ROOT, 'packages/console/src/tokens.css'), 'utf8')

const COLOURS = Object.fromEntries(
  [...css.matchAll(/--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)/g)].map(
    ([, name = '', light = '', dark = '']) => [name, { light, dark }],
  ),
)

/** WCAG 2.2, relative luminance. */
const luminance = (colour: string): number => {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

const contrast = (one: string, other: string): number => {
  const [low = 0, high = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b)
  return (high + 0.05) / (low + 0.05)
}

/** Least contrast of a colour on another: 4.5 is asked of text and 3 of edges; these leave some room. */
const TONES = ['ok', 'warn', 'bad', 'info']
const TEXTS = ['text', 'soft', 'accent', ...TONES]
const LEAST: (readonly [colour: string, on: string, least: number])[] = [
  ...TEXTS.map((name) => [name, 'bg', 6] as const),
  ...TEXTS.map((name) => [name, 'raised', 5.7] as const),
  ['on-accent', 'accent', 6],
  ['accent', 'accent-tint', 5],
  ['text', 'accent-tint', 6],
  ['edge', 'bg', 3.6],
  ['edge', 'raised', 3.4],
  ...TONES.map((name) => [name, `${name}-tint`, 5.5] as const),
]

describe('the colours of the console', () => {
  for (const [name, on, least] of LEAST)
    for (const theme of ['light', 'dark'] as const)
      test(`${name} is read on ${on}, ${theme}`, () => {
        const found = contrast(COLOURS[name]?.[theme] ?? '', COLOURS[on]?.[theme] ?? '')
        assert.ok(found >= least - 0.05, `${found.toFixed(2)}, less than ${least}`)
      })
})
