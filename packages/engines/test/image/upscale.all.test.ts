import assert from 'node:assert/strict'
import { test } from 'node:test'
import { draw, plainEnlargement, series, slide, testOnSamples, useFixture } from './fixture.ts'
import type { Sample } from './fixture.ts'
import {
  assertBelow,
  assertRises,
  assertSamePixels,
  difference,
  fineVariance,
  localDeviation,
  psnr,
} from './measure.ts'
import type { Pixels } from './measure.ts'

const fixture = useFixture(128)

const onSamples = testOnSamples(fixture)

const upscale = (sample: Sample, settings: object = {}): Promise<Pixels> =>
  fixture.render('upscale', sample.path, settings)

for (const factor of [2, 4, 8, 16])
  test(`both sides are multiplied by ${factor}`, async () => {
    const odd = await draw({ width: 13, height: 7 }, (x) => [x, 90, 3])
    const path = await fixture.write('odd.png', odd)
    const result = await fixture.render('upscale', path, { scale_factor: `${factor}x` })
    assert.deepEqual([result.width, result.height], [13 * factor, 7 * factor])
  })

onSamples('the default is crisper than the plain enlargement', async (sample) => {
  const result = await upscale(sample, { scale_factor: '4x' })
  const plain = await plainEnlargement(sample, 4)
  assertBelow(1.1 * fineVariance(plain), fineVariance(result), 'fine variance')
})

for (const [name, what, measure, least] of [
  ['hdr', 'local contrast', localDeviation, 1],
  ['fractality', 'fine contrast', fineVariance, 5],
  ['creativity', 'fine contrast', fineVariance, 1],
] as const)
  onSamples(`${name} raises ${what}`, async (sample) => {
    const render = (value: number) => upscale(sample, { [name]: value })
    assertRises(await slide([-10, -5, 0, 5, 10], render, measure), least, what)
  })

onSamples('resemblance comes up to the plain enlargement', async (sample) => {
  const plain = await plainEnlargement(sample, 2)
  const at = (resemblance: number) =>
    upscale(sample, { resemblance, creativity: 4, hdr: 4, fractality: 4 })
  // 9 in place of 10, where the ratio has no end.
  const ratios = (await series([-10, -5, 0, 5, 9], at)).map((each) => psnr(each, plain))
  assertRises(ratios, 10, 'PSNR')
  assertSamePixels(await at(10), plain)
})

onSamples('engines differ as their offsets do', async (sample) => {
  const engines = ['vendor_illusio', 'automatic', 'vendor_sharpy', 'vendor_sparkle'] as const
  const pixels = await series(engines, (engine) => upscale(sample, { engine }))
  const [, automatic, , sparkle] = pixels
  const fine = pixels.slice(0, 3).map((each) => fineVariance(each))
  assertRises(fine, 3, 'fine variance')
  assertRises([automatic, sparkle].map(localDeviation), 0.5, 'local deviation')
})

onSamples('optimized_for orders the portraits', async (sample) => {
  const subjects = ['soft_portraits', 'standard', 'hard_portraits'] as const
  const pixels = await series(subjects, (optimized_for) => upscale(sample, { optimized_for }))
  assertRises(
    pixels.map((each) => fineVariance(each)),
    2,
    'fine variance',
  )
})

const SUBJECTS =
  `soft_portraits hard_portraits art_n_illustration videogame_assets nature_n_landscapes
  films_n_photography 3d_renders science_fiction_n_horror`.split(/\s+/)

onSamples('every optimized_for differs from standard', async (sample) => {
  const standard = await upscale(sample)
  for (const optimized_for of SUBJECTS)
    assert.ok(difference(await upscale(sample, { optimized_for }), standard) > 0, optimized_for)
})

onSamples('offsets end at the range of the sliders', async (sample) => {
  const extreme = { fractality: 10, hdr: 10, engine: 'vendor_sharpy' }
  const [over, at] = await series([-10, -9], (creativity) =>
    upscale(sample, { ...extreme, creativity }),
  )
  assertSamePixels(over, at)
})

onSamples('a prompt has no effect', async (sample) => {
  assertSamePixels(await upscale(sample, { prompt: 'a castle' }), await upscale(sample))
})
