import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { QUARTERS, draw, series, slide, testOnSamples, useFixture, type Sample } from './fixture.ts'
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

const onSamples = testOnSamples(fixture)

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

  onSamples('smooth has less fine contrast, contrasted_n_hdr more contrast', async (sample) => {
    const [smooth, more] = await series(['smooth', 'contrasted_n_hdr'], (style) =>
      relight(sample, { style }),
    )
    assertBelow(fineVariance(smooth), 0.95 * fineVariance(sample.pixels), 'fine variance')
    assertBelow(1.03 * stdLuma(sample.pixels), stdLuma(more), 'contrast')
  })

  onSamples('clean spans at least the same range', async (sample) => {
    const clean = await relight(sample, { style: 'clean' })
    const rangeOf: Measure = (each) => percentile(each, 0.99) - percentile(each, 0.01)
    assertRises([sample.pixels, clean].map(rangeOf), 0, 'range')
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

describe('sliders', () => {
  /** Measures the mean luma of the darkest, or the brightest, quarter of a source. */
  const quarterOf =
    (isDark: boolean) =>
    (sample: Sample): Measure => {
      const y = luma(sample.pixels)
      const edge = quantile(y, isDark ? 0.25 : 0.75)
      const quarter = where(y, (value) => (isDark ? value <= edge : value >= edge))
      return (each) => meanWhere(luma(each), quarter)
    }
  const SLIDERS: [
    name: string,
    does: string,
    measureOf: (sample: Sample) => Measure,
    least: number,
  ][] = [
    ['blacks', 'lifts the darkest quarter of the source', quarterOf(true), 10],
    ['whites', 'lifts the brightest quarter of the source', quarterOf(false), 5],
    ['contrast', 'spreads luma', () => stdLuma, 20],
    ['brightness', 'lifts the mean by 40 levels at least', () => meanLuma, 40],
    ['saturation', 'runs from grey up', () => chroma, 20],
  ]
  for (const [name, does, measureOf, least] of SLIDERS)
    onSamples(`${name} ${does}`, async (sample) => {
      const render = (value: number) => relight(sample, { advanced_settings: { [name]: value } })
      const values = await slide(QUARTERS, render, measureOf(sample))
      assertRises(values, least, name)
      if (name === 'saturation') assert.equal(values[0], 0)
    })
})
