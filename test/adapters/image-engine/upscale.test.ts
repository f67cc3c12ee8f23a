import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import sharp from 'sharp'
import { draw, openFixture } from './fixture.ts'
import type { Fixture } from './fixture.ts'
import {
  assertRises,
  assertSamePixels,
  difference,
  fineVariance,
  localDeviation,
  luma,
  psnr,
  variance,
} from './measure.ts'
import type { Pixels } from './measure.ts'

type Sample = Fixture['samples'][number]

const RANGE = [-10, -5, 0, 5, 10]

let fixture: Fixture

before(async () => {
  fixture = await openFixture(128)
})

after(() => fixture.close())

const onSamples = (title: string, check: (sample: Sample) => Promise<void>): void => {
  for (const index of [0, 1])
    test(`${title} (${index === 0 ? 'portrait' : 'still life'})`, () =>
      check(fixture.samples[index]!))
}

const upscale = (sample: Sample, settings: object = {}): Promise<Pixels> =>
  fixture.render('upscale', sample.path, settings)

/** P, made by sharp alone. */
const plain = async ({ path, pixels }: Sample, factor: number): Promise<Pixels> => {
  const [width, height] = [pixels.width * factor, pixels.height * factor]
  const resized = sharp(path).resize(width, height, { kernel: 'lanczos3', fit: 'fill' })
  const { data, info } = await resized.raw().toBuffer({ resolveWithObject: true })
  return { width, height, channels: info.channels, data }
}

const slide = async (
  sample: Sample,
  name: string,
  measure: (pixels: Pixels) => number,
  others: object = {},
): Promise<number[]> => {
  const values = []
  for (const value of RANGE)
    values.push(measure(await upscale(sample, { [name]: value, ...others })))
  return values
}

describe('upscale', () => {
  for (const factor of [2, 4, 8, 16])
    test(`multiplies both sides by ${factor}`, async () => {
      const path = await fixture.write(
        'odd.png',
        await draw({ width: 13, height: 7 }, (x) => [x, 90, 3]),
      )
      const { width, height } = await fixture.render('upscale', path, {
        scale_factor: `${factor}x`,
      })
      assert.deepEqual([width, height], [13 * factor, 7 * factor])
    })

  onSamples('is crisper than the plain enlargement by default', async (sample) => {
    const result = await upscale(sample, { scale_factor: '4x' })
    assert.ok(fineVariance(result) > 1.1 * fineVariance(await plain(sample, 4)))
  })

  onSamples('hdr raises local contrast', async (sample) => {
    assertRises(await slide(sample, 'hdr', localDeviation), 1, 'local deviation')
  })

  onSamples('fractality raises fine contrast', async (sample) => {
    assertRises(await slide(sample, 'fractality', fineVariance), 5, 'fine variance')
  })

  onSamples('creativity raises fine contrast', async (sample) => {
    assertRises(await slide(sample, 'creativity', fineVariance), 1, 'fine variance')
  })

  onSamples(
    'resemblance comes up to the plain enlargement, and to its pixels at 10',
    async (sample) => {
      const reference = await plain(sample, 2)
      // PSNR of equal pixels has no end: it is compared up to 5, the rest by pixels.
      const others = { creativity: 4, hdr: 4, fractality: 4 }
      const values = []
      for (const resemblance of [-10, -5, 0, 5, 9])
        values.push(psnr(await upscale(sample, { resemblance, ...others }), reference))
      assertRises(values, 10, 'PSNR')
      assertSamePixels(await upscale(sample, { resemblance: 10, ...others }), reference)
    },
  )

  onSamples('engines differ as their offsets do', async (sample) => {
    const of = (engine: string) => upscale(sample, { engine })
    const [automatic, illusio, sharpy, sparkle] = [
      await of('automatic'),
      await of('vendor_illusio'),
      await of('vendor_sharpy'),
      await of('vendor_sparkle'),
    ]
    assertRises(
      [illusio, automatic, sharpy].map((each) => fineVariance(each)),
      3,
      'fine variance',
    )
    assertRises([automatic, sparkle].map(localDeviation), 0.5, 'local deviation')
  })

  onSamples('optimized_for differs from standard, and orders the portraits', async (sample) => {
    const of = (optimized_for: string) => upscale(sample, { optimized_for })
    const standard = await of('standard')
    const orders = [await of('soft_portraits'), standard, await of('hard_portraits')]
    assertRises(
      orders.map((each) => fineVariance(each)),
      2,
      'fine variance',
    )
    for (const name of [
      'soft_portraits',
      'hard_portraits',
      'art_n_illustration',
      'videogame_assets',
      'nature_n_landscapes',
      'films_n_photography',
      '3d_renders',
      'science_fiction_n_horror',
    ])
      assert.ok(difference(await of(name), standard) > 0, name)
  })

  onSamples('offsets stay within the range of the sliders', async (sample) => {
    const extreme = { creativity: -10, fractality: 10, hdr: 10 }
    assertSamePixels(
      await upscale(sample, { ...extreme, engine: 'vendor_sharpy' }),
      await upscale(sample, { ...extreme, creativity: -9, engine: 'vendor_sharpy' }),
    )
  })

  onSamples('a prompt has no effect without grain', async (sample) => {
    assertSamePixels(await upscale(sample, { prompt: 'a castle' }), await upscale(sample))
  })
})

describe('precision', () => {
  const precise = (path: string, settings: object = {}): Promise<Pixels> =>
    fixture.render('upscale_precision', path, settings)

  const bare = { sharpen: 0, smart_grain: 0, ultra_detail: 0 }

  const series = async (path: string, name: string, measure: (pixels: Pixels) => number) => {
    const values = []
    for (const value of [0, 25, 50, 75, 100])
      values.push(measure(await precise(path, { ...bare, [name]: value })))
    return values
  }

  for (const factor of [2, 3, 5, 16])
    test(`multiplies both sides by ${factor}`, async () => {
      const path = await fixture.write(
        'thin.png',
        await draw({ width: 9, height: 2 }, (x) => [x, x, x]),
      )
      const { width, height } = await precise(path, { scale_factor: factor })
      assert.deepEqual([width, height], [9 * factor, 2 * factor])
    })

  onSamples('is the plain enlargement without its three sliders', async (sample) => {
    assertSamePixels(await precise(sample.path, bare), await plain(sample, 2))
  })

  onSamples('sharpen raises fine contrast', async (sample) => {
    assertRises(await series(sample.path, 'sharpen', fineVariance), 20, 'fine variance')
  })

  onSamples('ultra_detail raises local contrast, and more in sublime', async (sample) => {
    const photo = await series(sample.path, 'ultra_detail', localDeviation)
    assertRises(photo, 2, 'local deviation')
    const sublime = await precise(sample.path, { ...bare, ultra_detail: 100, flavor: 'sublime' })
    assert.ok(localDeviation(sublime) > photo.at(-1)!)
  })

  test('smart_grain raises the fine contrast of flat grey', async () => {
    const grey = await draw({ width: 64, height: 64 }, () => [128, 128, 128])
    const path = await fixture.write('flat.png', grey)
    const values = await series(path, 'smart_grain', fineVariance)
    assert.equal(values[0], 0)
    assertRises(values, 40, 'fine variance')
    // 8 levels at 100, less what the Gaussian of the measure takes.
    assert.ok(Math.abs(Math.sqrt(values.at(-1)!) - 8) < 0.5, `${values.at(-1)}`)
  })

  test('photo_denoiser flattens noise', async () => {
    let state = 1
    const noise = () => (state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff) >> 25
    const noisy = await draw({ width: 64, height: 64 }, () => Array(3).fill(96 + noise()))
    const path = await fixture.write('noisy.png', noisy)
    const of = async (flavor: string) => variance(luma(await precise(path, { flavor })).values)
    assert.ok((await of('photo_denoiser')) < 0.5 * (await of('photo')))
  })
})
