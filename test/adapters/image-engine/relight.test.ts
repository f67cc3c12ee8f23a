import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import sharp from 'sharp'
import { draw, openFixture } from './fixture.ts'
import type { Fixture } from './fixture.ts'
import {
  assertFalls,
  assertRises,
  assertSamePixels,
  blurPercent,
  chroma,
  difference,
  fineVariance,
  luma,
  mean,
  meanLuma,
  percentile,
  redOverBlue,
  skinMask,
  stdLuma,
} from './measure.ts'
import type { Pixels, Plane } from './measure.ts'

type Sample = Fixture['samples'][number]

const QUARTERS = [0, 25, 50, 75, 100]

let fixture: Fixture
/** A grey map that is bright at the upper right. */
let lightmap: string
let redmap: string

before(async () => {
  fixture = await openFixture()
  const grey = (x: number, y: number) => Math.round(60 + x + (80 - y) / 2)
  const size = { width: 100, height: 80 }
  lightmap = await fixture.write(
    'lightmap.png',
    await draw(size, (x, y) => Array(3).fill(grey(x, y))),
  )
  redmap = await fixture.write('redmap.png', await draw(size, (x, y) => [grey(x, y), 40, 40]))
})

after(() => fixture.close())

const relight = (sample: Sample, settings: object = {}, inputs = {}): Promise<Pixels> =>
  fixture.render('relight', sample.path, settings, inputs)

const advanced = (settings: object) => ({ advanced_settings: settings })

/** Runs a check on both samples. */
const onSamples = (title: string, check: (sample: Sample) => Promise<void>): void => {
  for (const index of [0, 1])
    test(`${title} (${index === 0 ? 'portrait' : 'still life'})`, () =>
      check(fixture.samples[index]!))
}

/** Renders once for each value, in turn. */
const series = async <T>(values: T[], render: (value: T) => Promise<Pixels>): Promise<Pixels[]> => {
  const pixels = []
  for (const value of values) pixels.push(await render(value))
  return pixels
}

const meanGap = (a: Plane, b: Plane): number =>
  mean(a.values.map((value, i) => Math.abs(value - b.values[i]!)))

/** Luma of a map stretched to a picture's size, blurred. */
const wantedLight = async (sample: Sample, path: string, percent: number): Promise<Plane> => {
  const { width, height } = sample.pixels
  const stretched = sharp(path).resize(width, height, { fit: 'fill', kernel: 'linear' })
  const { data, info } = await stretched.raw().toBuffer({ resolveWithObject: true })
  return blurPercent(luma({ width, height, channels: info.channels, data }), percent)
}

describe('light', () => {
  onSamples('all defaults leave every pixel as it is', async (sample) => {
    assertSamePixels(await relight(sample), sample.pixels)
  })

  onSamples('words outside the vocabulary change nothing', async (sample) => {
    const prompt = 'a castle (by the sea) with (waves:1.3), leftover sunshine, brightness'
    assertSamePixels(await relight(sample, { prompt, change_background: false }), sample.pixels)
  })

  onSamples('a lightmap draws the light towards it with rising strength', async (sample) => {
    const wanted = await wantedLight(sample, lightmap, 2)
    const gaps = (
      await series(QUARTERS, (light_transfer_strength) =>
        relight(sample, { light_transfer_strength }, { lightmap }),
      )
    ).map((pixels) => meanGap(blurPercent(luma(pixels), 2), wanted))
    assertFalls(gaps, gaps[0]! / 2, 'distance to the map')
  })

  onSamples('a reference image draws the light towards its own', async (sample) => {
    const reference = fixture.samples.find((other) => other !== sample)!.path
    const wanted = await wantedLight(sample, reference, 6)
    const gaps = (
      await series(QUARTERS, (light_transfer_strength) =>
        relight(sample, { light_transfer_strength }, { reference }),
      )
    ).map((pixels) => meanGap(blurPercent(luma(pixels), 6), wanted))
    assertFalls(gaps, gaps[0]! / 2, 'distance to the reference')
  })

  onSamples('strength changes more and more, and nothing at 0', async (sample) => {
    const changes = (
      await series(QUARTERS, (light_transfer_strength) =>
        relight(sample, { light_transfer_strength }, { lightmap }),
      )
    ).map((pixels) => difference(pixels, sample.pixels))
    assert.equal(changes[0], 0)
    assertRises(changes, 5, 'change')
  })

  onSamples('transfer_light_a orders the change', async (sample) => {
    const levels = ['low', 'medium', 'normal', 'high']
    const pixels = await series(levels, (transfer_light_a) =>
      relight(sample, advanced({ transfer_light_a }), { lightmap }),
    )
    assertRises(
      pixels.map((each) => difference(each, sample.pixels)),
      3,
      'change',
    )
    assertSamePixels(await relight(sample, {}, { lightmap }), pixels[2]!)
  })

  test('high_on_faces is normal outside the skin and more inside', async () => {
    const sample = fixture.samples[0]!
    const skin = skinMask(sample.pixels).values
    const [normal, faces] = await series(['normal', 'high_on_faces'], (transfer_light_a) =>
      relight(sample, advanced({ transfer_light_a, preserve_details: false }), { lightmap }),
    )
    const outside = (i: number) => skin[i]! < 1e-6
    const inside = (i: number) => skin[i]! > 0.5
    assert.ok(difference(faces!, normal!, outside) < 0.05)
    const [less, more] = [normal!, faces!].map((each) => difference(each, sample.pixels, inside))
    assert.ok(more! > less! * 1.05, `${less} ${more}`)
  })

  onSamples('transfer_light_b weighs shadows and highlights', async (sample) => {
    const sorted = luma(sample.pixels).values.toSorted()
    const y = luma(sample.pixels).values
    const [low, high] = [sorted[Math.floor(y.length / 3)]!, sorted[Math.floor((2 * y.length) / 3)]!]
    const change = async (transfer_light_b: string, selected: (i: number) => boolean) =>
      difference(
        await relight(sample, advanced({ transfer_light_b }), { lightmap }),
        sample.pixels,
        selected,
      )
    const darks = (name: string) => change(name, (i) => y[i]! < low)
    const brights = (name: string) => change(name, (i) => y[i]! > high)
    const orders = [
      { third: 'darkest', of: darks, names: ['smooth_in', 'straight', 'strong_shift'] },
      { third: 'darkest', of: darks, names: ['smooth_both', 'smooth_out'] },
      { third: 'darkest', of: darks, names: ['soft_in', 'soft_mid', 'composition'] },
      { third: 'darkest', of: darks, names: ['soft_in', 'soft_out'] },
      { third: 'darkest', of: darks, names: ['reverse_both', 'straight', 'strong_mid'] },
      { third: 'brightest', of: brights, names: ['smooth_out', 'straight', 'strong_shift'] },
      { third: 'brightest', of: brights, names: ['smooth_both', 'smooth_in'] },
      { third: 'brightest', of: brights, names: ['soft_out', 'soft_mid', 'composition'] },
      { third: 'brightest', of: brights, names: ['reverse_both', 'straight', 'strong_mid'] },
    ]
    for (const { third, of, names } of orders) {
      const changes = []
      for (const name of names) changes.push(await of(name))
      assertRises(changes, 0.1, `${third} third of ${names.join(', ')}`)
    }
  })

  onSamples('style_shift takes over all of the colour of a map', async (sample) => {
    const [straight, shifted] = await series(['straight', 'style_shift'], (transfer_light_b) =>
      relight(sample, advanced({ transfer_light_b }), { lightmap: redmap }),
    )
    assert.ok(redOverBlue(shifted!) > redOverBlue(straight!) + 5)
  })

  onSamples('preserve_details keeps the fine contrast nearer to the source', async (sample) => {
    const [kept, lost] = await series([true, false], (preserve_details) =>
      relight(sample, { preserve_details }, { lightmap }),
    )
    const source = fineVariance(sample.pixels)
    const gap = (pixels: Pixels) => Math.abs(fineVariance(pixels) - source)
    assert.ok(gap(kept!) < gap(lost!), `${gap(kept!)} ${gap(lost!)}`)
  })

  onSamples('interpolate_from_original at strength 0 is the source', async (sample) => {
    const settings = { interpolate_from_original: true, style: 'contrasted_n_hdr' }
    const at = (light_transfer_strength: number) =>
      relight(sample, { ...settings, light_transfer_strength }, { lightmap })
    assertSamePixels(await at(0), sample.pixels)
    const changes = (await series(QUARTERS, at)).map((each) => difference(each, sample.pixels))
    assertRises(changes, 5, 'change')
    // Light at full strength under a mix: at 100 the mix is the light alone.
    const alone = await relight(sample, { style: 'contrasted_n_hdr' }, { lightmap })
    assertSamePixels(await at(100), alone)
  })
})

describe('words of a prompt', () => {
  const half = (pixels: Pixels, side: string): number => {
    const y = luma(pixels)
    const first = (i: number) =>
      side === 'left' || side === 'right'
        ? i % y.width < y.width / 2
        : Math.floor(i / y.width) < y.height / 2
    const halves = [true, false].map((wanted) =>
      mean(y.values.filter((_, i) => first(i) === wanted)),
    )
    const gap = halves[0]! - halves[1]!
    return side === 'left' || side === 'top' ? gap : -gap
  }
  const broadContrast = (pixels: Pixels): number => {
    const { values } = blurPercent(luma(pixels), 2)
    const middle = mean(values)
    return Math.sqrt(mean(values.map((value) => (value - middle) ** 2)))
  }
  const rows: { words: string[]; measure: (pixels: Pixels) => number; least: number }[] = [
    { words: ['left'], measure: (pixels) => half(pixels, 'left'), least: 10 },
    { words: ['right'], measure: (pixels) => half(pixels, 'right'), least: 10 },
    { words: ['top', 'above'], measure: (pixels) => half(pixels, 'top'), least: 10 },
    { words: ['bottom', 'below'], measure: (pixels) => half(pixels, 'bottom'), least: 10 },
    { words: ['warm', 'golden', 'sunset', 'candle'], measure: redOverBlue, least: 5 },
    {
      words: ['cool', 'cold', 'blue', 'moonlight'],
      measure: (each) => -redOverBlue(each),
      least: 5,
    },
    { words: ['bright', 'sunny', 'daylight'], measure: meanLuma, least: 5 },
    { words: ['dark', 'dim', 'night', 'moody'], measure: (each) => -meanLuma(each), least: 5 },
    { words: ['hard', 'dramatic'], measure: broadContrast, least: 2 },
    { words: ['soft', 'diffuse'], measure: (each) => -broadContrast(each), least: 2 },
  ]
  for (const { words, measure, least } of rows)
    onSamples(`${words.join(', ')} act, and more with weight 1.4`, async (sample) => {
      const [word] = words
      const [first, ...others] = await series(words, (each) =>
        relight(sample, { prompt: `Some ${each.toUpperCase()}, light` }),
      )
      for (const other of others) assertSamePixels(other, first!)
      const heavy = await relight(sample, { prompt: `some (${word}:1.4) light` })
      assertRises([sample.pixels, first!].map(measure), least, `with ${word}`)
      assertRises([first!, heavy].map(measure), least / 10, `with weight on ${word}`)
    })
})

describe('style', () => {
  const styles = (sample: Sample, names: string[]) =>
    series(names, (style) => relight(sample, { style }))

  onSamples('darker_but_realistic is darker, brighter is brighter', async (sample) => {
    const pixels = await styles(sample, ['darker_but_realistic', 'standard', 'brighter'])
    assertRises(pixels.map(meanLuma), 20, 'mean luma')
  })

  onSamples('smooth has less fine contrast', async (sample) => {
    const [smooth, standard] = await styles(sample, ['smooth', 'standard'])
    assert.ok(fineVariance(smooth!) < 0.95 * fineVariance(standard!))
  })

  onSamples('contrasted_n_hdr has more contrast', async (sample) => {
    const [contrasted, standard] = await styles(sample, ['contrasted_n_hdr', 'standard'])
    assert.ok(stdLuma(contrasted!) > 1.03 * stdLuma(standard!))
  })

  onSamples('clean spans at least the same range', async (sample) => {
    const [clean, standard] = await styles(sample, ['clean', 'standard'])
    const range = (pixels: Pixels) => percentile(pixels, 0.99) - percentile(pixels, 0.01)
    assert.ok(range(clean!) >= range(standard!), `${range(clean!)} ${range(standard!)}`)
  })

  test('just_composition evens out a fine checkerboard of light', async () => {
    const size = { width: 200, height: 160 }
    const grey = await fixture.write('grey.png', await draw(size, () => [120, 120, 120]))
    const square = (x: number, y: number) => ((x >> 3) + (y >> 3)) % 2
    const board = await draw(size, (x, y) => Array(3).fill(square(x, y) ? 220 : 40))
    const lightmapPath = await fixture.write('board.png', board)
    const [even, standard] = await series(['just_composition', 'standard'], (style) =>
      fixture.render('relight', grey, { style }, { lightmap: lightmapPath }),
    )
    assert.ok(stdLuma(standard!) > 5)
    assert.ok(stdLuma(even!) < stdLuma(standard!) / 2, `${stdLuma(even!)} ${stdLuma(standard!)}`)
  })
})

describe('engine', () => {
  const engines = (sample: Sample, names: string[], inputs = {}) =>
    series(names, (engine) => relight(sample, advanced({ engine }), inputs))

  onSamples('balanced is automatic', async (sample) => {
    const [balanced, automatic] = await engines(sample, ['balanced', 'automatic'], { lightmap })
    assertSamePixels(balanced!, automatic!)
  })

  onSamples('cool is bluer', async (sample) => {
    const [cool] = await engines(sample, ['cool'])
    assert.ok(redOverBlue(cool!) < redOverBlue(sample.pixels) - 5)
  })

  onSamples(
    'illusio is more colourful and colorful_anime more still, in 24 levels',
    async (sample) => {
      const pixels = await engines(sample, ['automatic', 'illusio', 'colorful_anime'])
      assertRises(pixels.map(chroma), 5, 'chroma')
      for (const channel of [0, 1, 2])
        assert.ok(new Set(pixels[2]!.data.filter((_, i) => i % 3 === channel)).size <= 24)
    },
  )

  onSamples('softy has less fine contrast, fairy is brighter', async (sample) => {
    const [softy, fairy] = await engines(sample, ['softy', 'fairy'])
    assert.ok(fineVariance(softy!) < 0.9 * fineVariance(sample.pixels))
    assert.ok(meanLuma(fairy!) > meanLuma(sample.pixels) + 5)
  })

  test('real changes the light less and hard_transform more than automatic', async () => {
    const sample = fixture.samples[0]!
    const bright = await draw({ width: 8, height: 8 }, () => [250, 250, 250])
    const strong = await fixture.write('bright.png', bright)
    const pixels = await engines(sample, ['real', 'automatic', 'hard_transform'], {
      lightmap: strong,
    })
    assertRises(
      pixels.map((each) => difference(each, sample.pixels)),
      5,
      'change',
    )
  })
})

describe('sliders', () => {
  const slide = async (sample: Sample, name: string, measure: (pixels: Pixels) => number) =>
    (await series(QUARTERS, (value) => relight(sample, advanced({ [name]: value })))).map(measure)

  /** Mean luma of the pixels that are the darkest or brightest quarter of the source. */
  const quarter = (sample: Sample, which: 'darkest' | 'brightest') => {
    const y = luma(sample.pixels).values
    const edge = y.toSorted()[Math.floor(y.length * (which === 'darkest' ? 0.25 : 0.75))]!
    const selected = (i: number) => (which === 'darkest' ? y[i]! <= edge : y[i]! >= edge)
    return (pixels: Pixels) => mean(luma(pixels).values.filter((_, i) => selected(i)))
  }

  onSamples('blacks lifts the darkest quarter', async (sample) => {
    assertRises(await slide(sample, 'blacks', quarter(sample, 'darkest')), 10, 'darkest quarter')
  })

  onSamples('whites lifts the brightest quarter', async (sample) => {
    assertRises(await slide(sample, 'whites', quarter(sample, 'brightest')), 5, 'brightest quarter')
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
