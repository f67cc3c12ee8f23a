import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { SAMPLES, draw, useFixture, series } from './fixture.ts'
import type { Sample } from './fixture.ts'
import {
  assertBelow,
  assertRises,
  assertSamePixels,
  blurPercent,
  chroma,
  deviation,
  difference,
  fineVariance,
  luma,
  meanLuma,
  meanWhere,
  percentile,
  quantile,
  redOverBlue,
  stdLuma,
  where,
} from './measure.ts'
import type { Pixels } from './measure.ts'

const fixture = useFixture()

const onSamples = (title: string, check: (sample: Sample) => Promise<void>): void => {
  for (const name of SAMPLES) test(`${title} (${name})`, () => check(fixture.samples[name]))
}

const relight = (sample: Sample, settings: object = {}, inputs = {}): Promise<Pixels> =>
  fixture.render('relight', sample.path, settings, inputs)

type Measure = (pixels: Pixels) => number

/** Mean luma of the left half less the right, and of the upper less the lower. */
const leftOverRight: Measure = (pixels) =>
  halfOverHalf(pixels, (i) => i % pixels.width < pixels.width / 2)
const upperOverLower: Measure = (pixels) =>
  halfOverHalf(pixels, (i) => Math.floor(i / pixels.width) < pixels.height / 2)

const halfOverHalf = (pixels: Pixels, first: (index: number) => boolean): number => {
  const y = luma(pixels)
  return meanWhere(y, first) - meanWhere(y, (i) => !first(i))
}

const broadContrast: Measure = (pixels) => deviation(blurPercent(luma(pixels), 2).values)

const less =
  (measure: Measure): Measure =>
  (pixels) =>
    -measure(pixels)

describe('words of a prompt', () => {
  const rows: { words: string[]; measure: Measure; least: number }[] = [
    { words: ['left'], measure: leftOverRight, least: 10 },
    { words: ['right'], measure: less(leftOverRight), least: 10 },
    { words: ['top', 'above'], measure: upperOverLower, least: 10 },
    { words: ['bottom', 'below'], measure: less(upperOverLower), least: 10 },
    { words: ['warm', 'golden', 'sunset', 'candle'], measure: redOverBlue, least: 5 },
    { words: ['cool', 'cold', 'blue', 'moonlight'], measure: less(redOverBlue), least: 5 },
    { words: ['bright', 'sunny', 'daylight'], measure: meanLuma, least: 5 },
    { words: ['dark', 'dim', 'night', 'moody'], measure: less(meanLuma), least: 5 },
    { words: ['hard', 'dramatic'], measure: broadContrast, least: 2 },
    { words: ['soft', 'diffuse'], measure: less(broadContrast), least: 2 },
  ]
  for (const { words, measure, least } of rows)
    onSamples(`${words.join(', ')} act, and more with weight 1.4`, async (sample) => {
      const [heavy, first, ...others] = await series([`(${words[0]}:1.4)`, ...words], (word) =>
        relight(sample, { prompt: `Some ${word.toUpperCase()}, light` }),
      )
      assert.ok(heavy && first, 'nothing rendered')
      for (const other of others) assertSamePixels(other, first)
      assertRises([sample.pixels, first].map(measure), least, 'with the word')
      assertRises([first, heavy].map(measure), least / 10, 'with weight')
    })
})

describe('style', () => {
  onSamples('darker_but_realistic is darker, brighter is brighter', async (sample) => {
    const names = ['darker_but_realistic', 'standard', 'brighter'] as const
    const pixels = await series(names, (style) => relight(sample, { style }))
    assertRises(pixels.map(meanLuma), 20, 'mean luma')
  })

  onSamples('smooth has less fine contrast', async (sample) => {
    const smooth = await relight(sample, { style: 'smooth' })
    assertBelow(fineVariance(smooth), 0.95 * fineVariance(sample.pixels), 'fine variance')
  })

  onSamples('contrasted_n_hdr has more contrast', async (sample) => {
    const contrasted = await relight(sample, { style: 'contrasted_n_hdr' })
    assertBelow(1.03 * stdLuma(sample.pixels), stdLuma(contrasted), 'contrast')
  })

  onSamples('clean spans at least the same range', async (sample) => {
    const clean = await relight(sample, { style: 'clean' })
    const ranges = [sample.pixels, clean].map(
      (each) => percentile(each, 0.99) - percentile(each, 0.01),
    )
    assertRises(ranges, 0, 'range')
  })

  test('just_composition evens out a fine checkerboard of light', async () => {
    const size = { width: 200, height: 160 }
    const grey = await fixture.write('grey.png', await draw(size, () => [120, 120, 120]))
    const board = await draw(size, (x, y) => Array(3).fill(((x >> 3) + (y >> 3)) % 2 ? 220 : 40))
    const lightmap = await fixture.write('board.png', board)
    const [even, standard] = await series(['just_composition', 'standard'], (style) =>
      fixture.render('relight', grey, { style }, { lightmap }),
    )
    assertBelow(5, stdLuma(standard), 'contrast')
    assertBelow(stdLuma(even), stdLuma(standard) / 2, 'contrast')
  })
})

const withEngine = (sample: Sample, engine: string, inputs = {}) =>
  relight(sample, { advanced_settings: { engine } }, inputs)

describe('engine', () => {
  onSamples('balanced is automatic', async (sample) => {
    const lightmap = fixture.samples.stillLife.path
    const [balanced, automatic] = await series(['balanced', 'automatic'], (engine) =>
      withEngine(sample, engine, { lightmap }),
    )
    assertSamePixels(balanced, automatic)
  })

  onSamples('cool is bluer', async (sample) => {
    const cool = await withEngine(sample, 'cool')
    assertBelow(redOverBlue(cool), redOverBlue(sample.pixels) - 5, 'red over blue')
  })

  onSamples('illusio is more colourful and colorful_anime more still', async (sample) => {
    const pixels = await series(['automatic', 'illusio', 'colorful_anime'], (engine) =>
      withEngine(sample, engine),
    )
    assertRises(pixels.map(chroma), 5, 'chroma')
  })

  onSamples('colorful_anime has 24 levels of each colour', async (sample) => {
    const { data } = await withEngine(sample, 'colorful_anime')
    for (const channel of [0, 1, 2])
      assertBelow(new Set(data.filter((_, i) => i % 3 === channel)).size, 25, 'levels')
  })

  onSamples('softy has less fine contrast, fairy is brighter', async (sample) => {
    const [softy, fairy] = await series(['softy', 'fairy'], (engine) => withEngine(sample, engine))
    assertBelow(fineVariance(softy), 0.9 * fineVariance(sample.pixels), 'fine variance')
    assertBelow(meanLuma(sample.pixels) + 5, meanLuma(fairy), 'mean luma')
  })

  test('real changes the light less and hard_transform more than automatic', async () => {
    const { portrait } = fixture.samples
    const bright = await draw({ width: 8, height: 8 }, () => [250, 250, 250])
    const lightmap = await fixture.write('bright.png', bright)
    const pixels = await series(['real', 'automatic', 'hard_transform'], (engine) =>
      withEngine(portrait, engine, { lightmap }),
    )
    const changes = pixels.map((each) => difference(each, portrait.pixels))
    assertRises(changes, 5, 'change')
  })
})

const slide = async (sample: Sample, name: string, measure: Measure): Promise<number[]> => {
  const pixels = await series([0, 25, 50, 75, 100], (value) =>
    relight(sample, { advanced_settings: { [name]: value } }),
  )
  return pixels.map((each) => measure(each))
}

describe('sliders', () => {
  onSamples('blacks lifts the darkest quarter of the source', async (sample) => {
    const y = luma(sample.pixels)
    const edge = quantile(y, 0.25)
    const darkest = where(y, (value) => value <= edge)
    const values = await slide(sample, 'blacks', (each) => meanWhere(luma(each), darkest))
    assertRises(values, 10, 'darkest quarter')
  })

  onSamples('whites lifts the brightest quarter of the source', async (sample) => {
    const y = luma(sample.pixels)
    const edge = quantile(y, 0.75)
    const brightest = where(y, (value) => value >= edge)
    const values = await slide(sample, 'whites', (each) => meanWhere(luma(each), brightest))
    assertRises(values, 5, 'brightest quarter')
  })

  onSamples('contrast spreads luma', async (sample) => {
    assertRises(await slide(sample, 'contrast', stdLuma), 20, 'deviation of luma')
  })

  onSamples('brightness lifts the mean by 40 levels at least', async (sample) => {
    assertRises(await slide(sample, 'brightness', meanLuma), 40, 'mean luma')
  })

  onSamples('saturation runs from grey up', async (sample) => {
    const values = await slide(sample, 'saturation', chroma)
    assert.equal(values[0], 0)
    assertRises(values, 20, 'chroma')
  })
})
