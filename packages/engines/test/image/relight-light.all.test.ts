import assert from 'node:assert/strict'
import { test } from 'node:test'
import sharp from 'sharp'
import { QUARTERS, draw, series, testOnSamples, useFixture, type Sample } from './fixture.ts'
import {
  assertFalls,
  assertRises,
  assertSamePixels,
  blurPercent,
  difference,
  fineVariance,
  luma,
  planeDifference,
  quantile,
  redOverBlue,
  skinMask,
  where,
} from './measure.ts'
import type { Pixels, Plane } from './measure.ts'

/** A grey map that is bright at the upper right, and a red one. */
let lightmap: string
let redmap: string

const grey = (x: number, y: number): number => Math.round(60 + x + (80 - y) / 2)

const fixture = useFixture(undefined, async (fixture) => {
  const size = { width: 100, height: 80 }
  const greys = await draw(size, (x, y) => Array(3).fill(grey(x, y)))
  lightmap = await fixture.write('lightmap.png', greys)
  redmap = await fixture.write('redmap.png', await draw(size, (x, y) => [grey(x, y), 40, 40]))
})

const onSamples = testOnSamples(fixture)

const relight = (sample: Sample, settings: object = {}, inputs = {}): Promise<Pixels> =>
  fixture.render('relight', sample.path, settings, inputs)

/** One result for each of five strengths. */
const strengths = (sample: Sample, inputs: object, settings: object = {}) =>
  series(QUARTERS, (light_transfer_strength) =>
    relight(sample, { light_transfer_strength, ...settings }, inputs),
  )

/** Luma of a map stretched to a picture's size, blurred. */
const wantedLight = async (sample: Sample, path: string, percent: number): Promise<Plane> => {
  const { width, height } = sample.pixels
  const stretched = sharp(path).resize(width, height, { fit: 'fill', kernel: 'linear' })
  const { data, info } = await stretched.raw().toBuffer({ resolveWithObject: true })
  return blurPercent(luma({ width, height, channels: info.channels, data }), percent)
}

onSamples('all defaults leave every pixel as it is', async (sample) => {
  assertSamePixels(await relight(sample), sample.pixels)
})

onSamples('words outside the vocabulary change nothing', async (sample) => {
  const prompt = 'a castle (by the sea) with (waves:1.3), leftover sunburn, brightness'
  assertSamePixels(await relight(sample, { prompt, change_background: false }), sample.pixels)
})

/** Asserts that the light comes nearer and nearer to that of a map, or of a reference. */
const assertDraws = async (sample: Sample, as: string, path: string, percent: number) => {
  const wanted = await wantedLight(sample, path, percent)
  const pixels = await strengths(sample, { [as]: path })
  const gaps = pixels.map((each) => planeDifference(blurPercent(luma(each), percent), wanted))
  assertFalls(gaps, (gaps[0] ?? 0) / 2, `distance to the ${as}`)
}

onSamples('a lightmap draws the light towards it with rising strength', (sample) =>
  assertDraws(sample, 'lightmap', lightmap, 2),
)

onSamples('a reference image draws the light towards its own', (sample) => {
  const { portrait, stillLife } = fixture.samples
  return assertDraws(sample, 'reference', (sample === portrait ? stillLife : portrait).path, 6)
})

/** Renders with rising strengths, and asserts that they change more and more, and nothing at 0. */
const assertChanges = async (sample: Sample, settings?: object) => {
  const pixels = await strengths(sample, { lightmap }, settings)
  assertSamePixels(pixels[0], sample.pixels)
  assertRises(
    pixels.map((each) => difference(each, sample.pixels)),
    5,
    'change',
  )
  return pixels
}

onSamples('strength changes more and more, and nothing at 0', async (sample) => {
  await assertChanges(sample)
})

onSamples('interpolate_from_original at strength 0 is the source', async (sample) => {
  const settings = { interpolate_from_original: true, style: 'contrasted_n_hdr' }
  const pixels = await assertChanges(sample, settings)
  const alone = await relight(sample, { style: 'contrasted_n_hdr' }, { lightmap })
  assertSamePixels(pixels[4], alone)
})

onSamples('transfer_light_a orders the change', async (sample) => {
  const levels = ['low', 'medium', 'normal', 'high', 'automatic'] as const
  const pixels = await series(levels, (transfer_light_a) =>
    relight(sample, { advanced_settings: { transfer_light_a } }, { lightmap }),
  )
  const changes = pixels.slice(0, 4).map((each) => difference(each, sample.pixels))
  assertRises(changes, 3, 'change')
  assertSamePixels(pixels[4], pixels[2])
})

test('high_on_faces is normal outside the skin and more inside', async () => {
  const { portrait } = fixture.samples
  const skin = skinMask(portrait.pixels)
  const inside = where(skin, (value) => value > 0.5)
  const [normal, faces] = await series(['normal', 'high_on_faces'], (transfer_light_a) =>
    relight(
      portrait,
      { preserve_details: false, advanced_settings: { transfer_light_a } },
      { lightmap },
    ),
  )
  const outside = where(skin, (value) => value < 1e-6)
  assert.equal(difference(faces, normal, outside), 0)
  const less = difference(normal, portrait.pixels, inside)
  const more = difference(faces, portrait.pixels, inside)
  assert.ok(more > less * 1.05, `${less} ${more}`)
})

const SHADOW_ORDERS = [
  ['smooth_in', 'straight', 'strong_shift'],
  ['smooth_both', 'smooth_out'],
  ['soft_in', 'soft_mid', 'composition'],
  ['soft_in', 'soft_out'],
  ['reverse_both', 'straight', 'strong_mid'],
]

const HIGHLIGHT_ORDERS = [
  ['smooth_out', 'straight', 'strong_shift'],
  ['smooth_both', 'smooth_in'],
  ['soft_out', 'soft_mid', 'composition'],
  ['reverse_both', 'straight', 'strong_mid'],
]

const assertOrders = async (
  sample: Sample,
  orders: string[][],
  selected: (index: number) => boolean,
): Promise<void> => {
  for (const names of orders) {
    const pixels = await series(names, (transfer_light_b) =>
      relight(sample, { advanced_settings: { transfer_light_b } }, { lightmap }),
    )
    const changes = pixels.map((each) => difference(each, sample.pixels, selected))
    assertRises(changes, 0.1, names.join(', '))
  }
}

onSamples('transfer_light_b weighs the shadows', async (sample) => {
  const y = luma(sample.pixels)
  const edge = quantile(y, 1 / 3)
  const isDark = where(y, (value) => value < edge)
  await assertOrders(sample, SHADOW_ORDERS, isDark)
})

onSamples('transfer_light_b weighs the highlights', async (sample) => {
  const y = luma(sample.pixels)
  const edge = quantile(y, 2 / 3)
  const isBright = where(y, (value) => value > edge)
  await assertOrders(sample, HIGHLIGHT_ORDERS, isBright)
})

onSamples('style_shift takes over all of the colour of a map', async (sample) => {
  const [straight, shifted] = await series(['straight', 'style_shift'], (transfer_light_b) =>
    relight(sample, { advanced_settings: { transfer_light_b } }, { lightmap: redmap }),
  )
  assertRises([straight, shifted].map(redOverBlue), 5, 'red over blue')
})

onSamples('preserve_details keeps the fine contrast nearer to the source', async (sample) => {
  const [kept, lost] = await series([true, false], (preserve_details) =>
    relight(sample, { preserve_details }, { lightmap }),
  )
  const source = fineVariance(sample.pixels)
  const gaps = [kept, lost].map((each) => Math.abs(fineVariance(each) - source))
  assertRises(gaps, 0.5, 'distance to the fine variance of the source')
})
