import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import sharp from 'sharp'
import { difference, entropy, paint, useStudio } from './studio.ts'
import { ROOT } from '../../../../src/local/root.ts'

const SIZE = { width: 240, height: 160 }
const SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'

describe('a video of a start image', () => {
  const studio = useStudio()
  let path: string
  let pixels: Buffer
  before(async () => {
    path = join(studio.dir, 'start.png')
    const sample = sharp(join(ROOT, 'samples/still-life.png')).resize({ ...SIZE, fit: 'cover' })
    pixels = await sample.removeAlpha().raw().toBuffer()
    await toPng().toFile(path)
  })
  const toPng = () => sharp(pixels, { raw: { ...SIZE, channels: 3 } }).png()
  /** Renders a video of the start image. */
  const render = (part: object = {}) => studio.render({ ...SIZE, startImage: { path }, ...part })

  test('begins with the image', async () => {
    assert.ok(difference(studio.first((await render()).video), pixels) < 5)
  })

  test('ends on an end image, after a cross-fade, in as many frames', async () => {
    const endImage = { path: await studio.paint('#24b', 240, 160) }
    const { video } = await render({ endImage, seconds: 2 })
    const decoded = studio.decode(video)
    const blue = Buffer.alloc(SIZE.width * SIZE.height * 3, Buffer.from([0x22, 0x44, 0xbb]))
    const far = decoded.map((frame) => difference(frame, blue))
    assert.equal(decoded.length, 48)
    assert.ok(difference(decoded[0] ?? Buffer.of(), pixels) < 5)
    assert.ok((far.at(-1) ?? 99) < 3 && (far[24] ?? 0) > 3, far.join())
  })

  test('moves the farther the larger the movement is', async () => {
    const ways = await Promise.all(
      (['small', 'auto', 'medium', 'large'] as const).map(async (movement) => {
        const frames = studio.decode((await render({ movement })).video)
        return difference(frames[0] ?? Buffer.of(), frames.at(-1) ?? Buffer.of())
      }),
    )
    const [small = 0, auto = 0, medium = 0, large = 0] = ways
    assert.equal(auto, medium)
    assert.ok(small > 3 && medium > small * 1.05 && large > medium * 1.05, ways.join())
  })

  test('takes its direction from the seed, and nothing from the prompt', async () => {
    const last = async (part: object): Promise<Buffer> =>
      studio.decode((await render(part)).video).at(-1) ?? Buffer.of()
    const one = await last({})
    assert.deepEqual(one, await last({ prompt: 'red' }))
    assert.ok(difference(one, await last({ seed: 99 })) > 2)
  })

  test('has fewer tones in the style anime, and edges stay where they are', async () => {
    const general = studio.first((await render({ style: 'general' })).video)
    const anime = studio.first((await render({ style: 'anime' })).video)
    assert.ok(entropy(anime) < entropy(general))
    assert.ok(difference(anime, general) < 50)
  })

  test('shows an image upright, and white where it is transparent', async () => {
    const turned = join(studio.dir, 'turned.webp')
    // Left half red, right half clear; turned by a quarter the red is above.
    const red = sharp({ create: { width: 80, height: 160, channels: 4, background: '#f00' } })
    const both = await red.extend({ right: 80, background: '#0000' }).png().toBuffer()
    await sharp(both).withMetadata({ orientation: 6 }).webp({ lossless: true }).toFile(turned)
    const { video } = await render({ width: 160, height: 160, startImage: { path: turned } })
    const first = studio.first(video)
    const at = (x: number, y: number): number[] => [
      ...first.subarray((y * 160 + x) * 3, (y * 160 + x) * 3 + 3),
    ]
    assertNear(at(80, 20), [255, 0, 0])
    assertNear(at(80, 140), [255, 255, 255])
  })

  const broken: [string, () => Promise<Buffer> | Buffer, string][] = [
    ['a text', () => Buffer.from('hello'), 'image_invalid'],
    ['an SVG', () => Buffer.from(SVG), 'image_invalid'],
    ['a cut PNG', async () => (await toPng().toBuffer()).subarray(0, 900), 'image_invalid'],
    ['too many pixels', () => paint(1001, 1000, '#777').png().toBuffer(), 'pixel_limit'],
  ]
  for (const [name, make, code] of broken)
    test(`ends with ${code} for ${name}`, async () => {
      const file = join(studio.dir, 'broken')
      await writeFile(file, await make())
      const error = { name: 'InputError', code }
      await assert.rejects(render({ startImage: { path: file } }), error)
      await assert.rejects(studio.render({ watermark: { position: 1, path: file } }), error)
    })

  describe('with a watermark', () => {
    test('has the bytes it has without one, and a second file in which it lies in its corner', async () => {
      const mark = await studio.paint('#fff', 40, 20)
      const plan = { width: 500, height: 200 }
      const clean = studio.first((await render(plan)).video)
      // 12 % of the width, 2 % of it from the sides.
      const corners = { 1: [10, 10], 2: [430, 10], 3: [430, 160], 4: [10, 160] } as const
      for (const position of [1, 2, 3, 4] as const) {
        const result = await render({ ...plan, watermark: { position, path: mark } })
        assert.deepEqual(studio.first(result.video), clean)
        const marked = studio.first(result.watermarked)
        assertMarked({ clean, marked, width: 500, corner: corners[position] })
      }
    })

    test('has the built-in mark when none is given', async () => {
      const [width, height] = [480, 320]
      const { video, watermarked } = await render({ width, height, watermark: { position: 3 } })
      const [clean, marked] = [studio.first(video), studio.first(watermarked)]
      const changed = Array.from({ length: clean.length / 3 }, (_, i) => i).filter(
        (i) => Math.abs((clean[i * 3] ?? 0) - (marked[i * 3] ?? 0)) > 50,
      )
      assert.ok(changed.length > 60, `${changed.length} pixels`)
      const stray = changed.filter((i) => i % width < width * 0.85 || i / width < height * 0.85)
      assert.deepEqual(stray, [])
    })
  })
})

const assertNear = (got: number[], wanted: number[]): void => {
  const gaps = got.map((value, i) => Math.abs(value - (wanted[i] ?? 0)))
  assert.ok(Math.max(...gaps) < 12, `${got.join()} is not ${wanted.join()}`)
}

interface Marked {
  clean: Buffer
  marked: Buffer
  width: number
  corner: readonly [number, number]
}

/** White at 70 % over a box of 60×30, and nothing elsewhere. */
const assertMarked = ({ clean, marked, width, corner: [left, top] }: Marked): void => {
  let [inside, outside, count] = [0, 0, 0]
  for (let i = 0; i < clean.length; i += 3) {
    const [x, y] = [(i / 3) % width, Math.floor(i / 3 / width)]
    const [dx, dy] = [x - left, y - top]
    const before = clean[i + 1] ?? 0
    const after = marked[i + 1] ?? 0
    if (dx >= 2 && dx < 58 && dy >= 2 && dy < 28) {
      inside += Math.abs(after - (0.7 * 255 + 0.3 * before))
      count += 1
    } else if (dx < -4 || dx > 64 || dy < -4 || dy > 34)
      outside = Math.max(outside, Math.abs(after - before))
  }
  assert.ok(inside / count < 6, `inside ${inside / count}`)
  assert.ok(outside < 40, `outside ${outside}`)
}
