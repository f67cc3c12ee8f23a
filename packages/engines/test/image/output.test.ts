import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import sharp from 'sharp'
import type { Sharp } from 'sharp'
import { IMAGE_KINDS, type ImageTaskKind } from '../../../../src/tasks/domain/image/image-kind.ts'
import { useFixture, readPixels } from './fixture.ts'
import { assertBelow, assertSamePixels, mean, type Pixels } from './measure.ts'

const KINDS = Object.keys(IMAGE_KINDS) as ImageTaskKind[]

const fixture = useFixture(64)

/** Two halves side by side, 24 × 10: red at the left, blue at the right. */
const halves = (): Sharp => {
  const colours = Array.from({ length: 24 * 10 }, (_, i) => (i % 24 < 12 ? RED : BLUE))
  return sharp(Uint8Array.from(colours.flat()), { raw: { width: 24, height: 10, channels: 3 } })
}

const RED = [0xc0, 0x30, 0x20]
const BLUE = [0x20, 0x40, 0xc0]

/** A flat picture whose alpha rises from left to right. */
const faded = (): Sharp => {
  const colours = Array.from({ length: 16 * 12 }, (_, i) => [190, 120, 90, (i % 16) * 17])
  return sharp(Uint8Array.from(colours.flat()), { raw: { width: 16, height: 12, channels: 4 } })
}

const channel = ({ data, channels }: Pixels, index: number): number[] =>
  [...data].filter((_, i) => i % channels === index)

/** A PNG of 8 × 8 pixels of one colour. */
const flat = (background: string): Sharp =>
  sharp({ create: { width: 8, height: 8, channels: 4, background } }).png()

/** Colour of one pixel. */
const at = ({ data, width, channels }: Pixels, x: number, y: number): number[] => [
  ...data.subarray((y * width + x) * channels, (y * width + x) * channels + 3),
]

const near = (actual: number[], expected: number[], gap: number): void => {
  const gaps = actual.map((value, i) => Math.abs(value - (expected[i] ?? 0)))
  assert.ok(Math.max(...gaps) <= gap, `${actual.join()} is not ${expected.join()}`)
}

const write = async (name: string, picture: Sharp): Promise<string> =>
  fixture.write(name, await picture.toBuffer())

describe('format of the result', () => {
  const rows: { name: string; picture: () => Sharp; expected: 'png' | 'jpg' }[] = [
    { name: 'in.png', picture: () => halves().png(), expected: 'png' },
    { name: 'palette.png', picture: () => halves().png({ palette: true }), expected: 'png' },
    { name: 'grey.png', picture: () => halves().toColourspace('b-w').png(), expected: 'png' },
    { name: 'deep.png', picture: () => halves().toColourspace('rgb16').png(), expected: 'png' },
    { name: 'faded.png', picture: () => faded().png(), expected: 'png' },
    { name: 'in.jpg', picture: () => halves().jpeg(), expected: 'jpg' },
    { name: 'grey.jpg', picture: () => halves().toColourspace('b-w').jpeg(), expected: 'jpg' },
    { name: 'cmyk.jpg', picture: () => halves().toColourspace('cmyk').jpeg(), expected: 'jpg' },
    { name: 'in.webp', picture: () => halves().webp(), expected: 'jpg' },
    { name: 'faded.webp', picture: () => faded().webp({ lossless: true }), expected: 'png' },
    { name: 'in.tiff', picture: () => halves().tiff({ compression: 'lzw' }), expected: 'jpg' },
    { name: 'in.avif', picture: () => halves().avif(), expected: 'jpg' },
    { name: 'in.gif', picture: () => halves().gif(), expected: 'jpg' },
  ]
  for (const { name, picture, expected } of rows)
    test(`${name} gives ${expected}, sRGB, 8 bit, without metadata`, async () => {
      const path = await write(name, picture())
      const rendered = await fixture.renderFile('relight', path)
      const metadata = await sharp(rendered.file).metadata()
      assert.equal(rendered.extension, expected)
      assert.equal(rendered.contentType, expected === 'png' ? 'image/png' : 'image/jpeg')
      assert.equal(metadata.format, expected === 'png' ? 'png' : 'jpeg')
      assert.deepEqual([metadata.space, metadata.depth], ['srgb', 'uchar'])
      assert.equal(metadata.channels, name.startsWith('faded') ? 4 : 3)
      assert.deepEqual([metadata.width, metadata.height], [rendered.width, rendered.height])
      assert.equal(metadata.exif ?? metadata.icc ?? metadata.xmp ?? metadata.iptc, undefined)
    })

  test('a JPEG has quality 95 and full colour resolution', async () => {
    const { file } = await fixture.renderFile('relight', await write('q.jpg', halves().jpeg()))
    assert.equal((await sharp(file).metadata()).chromaSubsampling, '4:4:4')
    assert.ok(typeof file !== 'string')
    const bytes = Buffer.from(file)
    // The first value of the luma table is 16 at quality 50 and scales by 10 % at 95.
    assert.equal(bytes[bytes.indexOf(Buffer.from([0xff, 0xdb])) + 5], 2)
  })
})

describe('normal form', () => {
  test('EXIF orientation is applied', async () => {
    const turned = halves().withMetadata({ orientation: 6 }).jpeg({ quality: 100 })
    const pixels = await fixture.render('relight', await write('turned.jpg', turned))
    assert.deepEqual([pixels.width, pixels.height], [10, 24])
    near(at(pixels, 5, 2), RED, 8)
    near(at(pixels, 5, 21), BLUE, 8)
  })

  test('upscaling multiplies the sides as they are after orientation', async () => {
    const turned = halves().withMetadata({ orientation: 8 }).jpeg()
    const path = await write('turned-8.jpg', turned)
    const { width, height } = await fixture.render('upscale', path)
    assert.deepEqual([width, height], [20, 48])
  })

  test('an ICC profile is converted to sRGB', async () => {
    const wide = await write('p3.png', halves().withIccProfile('p3').png())
    const pixels = await fixture.render('relight', wide)
    near(at(pixels, 2, 2), RED, 2)
    near(at(pixels, 20, 2), BLUE, 2)
    const raw = await sharp(wide, { ignoreIcc: true }).raw().toBuffer()
    assert.ok(Math.abs((raw[0] ?? 0) - 0xc0) > 5, 'the file itself holds other numbers')
  })

  test('16 bits become 8', async () => {
    const values = Uint16Array.from({ length: 256 * 3 }, (_, i) => Math.floor(i / 3) * 257)
    const ramp = sharp(values, { raw: { width: 256, height: 1, channels: 3 } })
    const path = await write('ramp.png', ramp.toColourspace('rgb16').png())
    assert.equal((await sharp(path).metadata()).depth, 'ushort')
    const pixels = await fixture.render('relight', path)
    assert.deepEqual(channel(pixels, 1), [...Array(256).keys()])
  })

  test('CMYK keeps its look', async () => {
    const path = await write('look.jpg', halves().toColourspace('cmyk').jpeg({ quality: 100 }))
    assert.equal((await sharp(path).metadata()).channels, 4)
    const pixels = await fixture.render('relight', path)
    assert.equal(pixels.channels, 3)
    near(at(pixels, 2, 2), RED, 40)
  })

  test('the first frame of an animation is taken', async () => {
    const frames = [await flat('#ff0000').toBuffer(), await flat('#0000ff').toBuffer()]
    const path = await write('moving.gif', sharp(frames, { join: { animated: true } }).gif())
    assert.equal((await sharp(path).metadata()).pages, 2)
    const pixels = await fixture.render('relight', path)
    assert.deepEqual([pixels.width, pixels.height], [8, 8])
    near(at(pixels, 4, 4), [255, 0, 0], 2)
  })

  for (const kind of KINDS)
    test(`${kind} takes a picture of one pixel`, async () => {
      const dot = sharp({ create: { width: 1, height: 1, channels: 3, background: '#b07860' } })
      const path = await write('dot.png', dot.png())
      const settings = kind === 'relight' ? { prompt: 'left', style: 'contrasted_n_hdr' } : {}
      const { width } = await fixture.render(kind, path, settings, { lightmap: path })
      assert.equal(width, kind.startsWith('upscale') ? 2 : 1)
    })
})

describe('alpha', () => {
  for (const [kind, settings] of [
    ['relight', { prompt: 'warm light from the left', style: 'brighter' }],
    ['skin_creative', { sharpen: 50 }],
  ] as const)
    test(`passes through ${kind} while colours change`, async () => {
      const path = await write('alpha.png', faded().png())
      const [source, result] = [await readPixels(path), await fixture.render(kind, path, settings)]
      assert.deepEqual(channel(result, 3), channel(source, 3))
      assert.notDeepEqual(channel(result, 0), channel(source, 0))
    })

  for (const kind of ['upscale', 'upscale_precision'] as const)
    test(`is resized by ${kind}`, async () => {
      const path = await write('alpha.png', faded().png())
      const result = await fixture.render(kind, path)
      const plain = await sharp(path).resize(32, 24, { fit: 'fill' }).raw().toBuffer()
      const expected = channel({ width: 32, height: 24, channels: 4, data: plain }, 3)
      assert.deepEqual(channel(result, 3), expected)
    })

  test('a transparent part of a lightmap gives no light', async () => {
    const { portrait } = fixture.samples
    const lightmap = await write('clear.png', flat('#ffffff00'))
    const result = await fixture.render('relight', portrait.path, {}, { lightmap })
    assertBelow(mean(result.data), mean(portrait.pixels.data) / 2, 'mean')
  })
})

test('a small picture is the same whatever lossless format brings it', async () => {
  const portrait = sharp(fixture.samples.portrait.path).ensureAlpha()
  const tiff = await write('same.tiff', portrait.clone().tiff({ compression: 'lzw' }))
  const png = await write('same.png', portrait.clone().png())
  assertSamePixels(await fixture.render('relight', tiff), await fixture.render('relight', png))
})
