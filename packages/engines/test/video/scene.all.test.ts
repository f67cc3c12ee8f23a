import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { breakLines } from '../../src/video/caption.ts'
import { difference, entropy, mean, useStudio, type Studio } from './studio.ts'

describe('a video without an image', () => {
  const studio = useStudio()

  const firstFrame = async (part: Parameters<Studio['render']>[0]): Promise<Buffer> =>
    studio.first((await studio.render(part)).video)

  test('takes its colours from the words of the prompt', async () => {
    const frameOf = (prompt: string) => firstFrame({ prompt, width: 160, height: 90 })
    const [red, blue] = [await frameOf('red'), await frameOf('Blue')]
    const [black, white] = [await frameOf('black'), await frameOf('a WHITE hall')]
    assert.ok(mean(red, 0) > mean(blue, 0) + 60)
    assert.ok(mean(blue, 2) > mean(red, 2) + 60)
    assert.ok(mean(white, 1) > mean(black, 1) + 120)
  })

  for (const prompt of [
    ...'orange yellow green indigo violet sunset forest ocean night'.split(' '),
    '',
  ])
    test(`moves from its first frame to its last: ${prompt || 'no prompt'}`, async () => {
      const { video } = await studio.render({ prompt, width: 160, height: 90 })
      const frames = studio.decode(video)
      const [first, last] = [frames[0], frames.at(-1)]
      assert.ok(first && last && difference(first, last) > 1)
      // No jumps: a step is a small part of the whole way.
      const steps = frames.slice(1).map((frame, i) => difference(frame, frames[i] ?? frame))
      assert.ok(Math.max(...steps) < difference(first, last) * 0.6, `${Math.max(...steps)}`)
    })

  test('writes the prompt at the lower left', async () => {
    const size = { width: 640, height: 360 }
    // The same word twice gives the same colours, so only the letters differ.
    const short = await firstFrame({ ...size, prompt: 'red' })
    const long = await firstFrame({ ...size, prompt: 'red red red' })
    const changed = listChanged(short, long, size.width)
    assert.ok(changed.length > 30)
    assert.ok(changed.every(({ x, y }) => x < 200 && y > 300))
  })

  test('leaves letters out that its font lacks', async () => {
    const size = { width: 640, height: 360 }
    assert.deepEqual(
      await firstFrame({ ...size, prompt: 'red 水面の光' }),
      await firstFrame({ ...size, prompt: 'red' }),
    )
  })

  test('takes a prompt that looks like markup, options or a filter as it is', async () => {
    const prompt = `<b>&amp; %{pts} ':[in]; -f lavfi \\\n${'x'.repeat(60)}`
    const { frames } = await studio.render({ prompt, width: 640, height: 360 })
    assert.equal(frames, 24)
  })

  test('has fewer tones in the style anime', async () => {
    const general = await firstFrame({ prompt: 'ocean', style: 'general' })
    const anime = await firstFrame({ prompt: 'ocean', style: 'anime' })
    assert.ok(entropy(anime) < entropy(general) - 0.5)
  })
})

const listChanged = (one: Buffer, other: Buffer, width: number): { x: number; y: number }[] =>
  Array.from({ length: one.length / 3 }, (_, i) => i)
    .filter((i) => Math.abs((one[i * 3 + 1] ?? 0) - (other[i * 3 + 1] ?? 0)) > 60)
    .map((i) => ({ x: i % width, y: Math.floor(i / width) }))

describe('a caption', () => {
  const cases: [string, string[]][] = [
    ['', []],
    ['short', ['short']],
    ['a'.repeat(45), ['a'.repeat(40), 'a'.repeat(5)]],
    [`${'word '.repeat(8)}more`.trim(), ['word word word word word word word word', 'more']],
    [
      'nine chars '.repeat(12).trim(),
      ['nine chars nine chars nine chars nine', 'chars nine chars nine chars nine chars…'],
    ],
  ]
  for (const [text, lines] of cases)
    test(`breaks ${JSON.stringify(text.slice(0, 20))} into ${lines.length} lines of at most 40`, () => {
      assert.deepEqual(breakLines(text), lines)
      assert.ok(breakLines(text).every((line) => [...line].length <= 40))
    })
})
