import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  QUARTERS,
  draw,
  plainEnlargement,
  series,
  slide,
  testOnSamples,
  useFixture,
} from './fixture.ts'
import {
  assertRises,
  assertSamePixels,
  fineVariance,
  last,
  localDeviation,
  luma,
  variance,
} from './measure.ts'
import type { Pixels } from './measure.ts'

const fixture = useFixture(128)

const onSamples = testOnSamples(fixture)

const bare = { sharpen: 0, smart_grain: 0, ultra_detail: 0 }

const precise = (path: string, settings: object = {}): Promise<Pixels> =>
  fixture.render('upscale_precision', path, settings)

/** A measure at five points of a slider's range, the others at 0. */
const slideOf = (path: string, name: string, measure: (pixels: Pixels) => number) =>
  slide(QUARTERS, (value) => precise(path, { ...bare, [name]: value }), measure)

for (const factor of [2, 3, 5, 16])
  test(`both sides are multiplied by ${factor}`, async () => {
    const thin = await draw({ width: 9, height: 2 }, (x) => [x, x, x])
    const path = await fixture.write('thin.png', thin)
    const { width, height } = await precise(path, { scale_factor: factor })
    assert.deepEqual([width, height], [9 * factor, 2 * factor])
  })

onSamples('without its sliders it is the plain enlargement', async (sample) => {
  assertSamePixels(await precise(sample.path, bare), await plainEnlargement(sample, 2))
})

onSamples('sharpen raises fine contrast', async (sample) => {
  assertRises(await slideOf(sample.path, 'sharpen', fineVariance), 20, 'fine variance')
})

onSamples('ultra_detail raises local contrast, and more in sublime', async (sample) => {
  const photo = await slideOf(sample.path, 'ultra_detail', localDeviation)
  assertRises(photo, 2, 'local deviation')
  const settings = { ...bare, ultra_detail: 100, flavor: 'sublime' }
  const sublime = localDeviation(await precise(sample.path, settings))
  assertRises([last(photo), sublime], 0.5, 'local deviation')
})

test('smart_grain raises the fine contrast of flat grey', async () => {
  const grey = await draw({ width: 64, height: 64 }, () => [128, 128, 128])
  const path = await fixture.write('flat.png', grey)
  const values = await slideOf(path, 'smart_grain', fineVariance)
  assert.equal(values[0], 0)
  assertRises(values, 40, 'fine variance')
  // 0.08 × 100 levels, less what the measure's Gaussian leaves out.
  assert.ok(Math.abs(Math.sqrt(last(values)) - 8) < 0.5, `${last(values)}`)
})

const noise = (x: number, y: number): number => (Math.imul(x * 64 + y + 1, 0x9e3779b1) >>> 16) % 64

test('photo_denoiser flattens noise', async () => {
  const noisy = await draw({ width: 64, height: 64 }, (x, y) => Array(3).fill(96 + noise(x, y)))
  const path = await fixture.write('noisy.png', noisy)
  const pixels = await series(['photo_denoiser', 'photo'], (flavor) => precise(path, { flavor }))
  const [denoised, photo] = pixels.map((each) => variance(luma(each).values))
  assert.ok(denoised && photo && denoised < 0.5 * photo, `${denoised} ${photo}`)
})
