import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ImageTaskKind } from '../../../../src/tasks/domain/image/image-kind.ts'
import { QUARTERS, draw, series, slide, useFixture, type Sample } from './fixture.ts'
import {
  assertBelow,
  assertRises,
  assertSamePixels,
  chroma,
  colourDifferences,
  difference,
  fineVariance,
  meanLuma,
  skinMask,
  variance,
  where,
} from './measure.ts'
import type { Pixels, Plane } from './measure.ts'

let portrait: Sample
/** The mask of the portrait, 0..1. */
let skin: Plane

const fixture = useFixture(256, ({ samples }) => {
  portrait = samples.portrait
  skin = skinMask(portrait.pixels)
})

const enhance = (mode: string, settings: object = {}): Promise<Pixels> =>
  fixture.render(`skin_${mode}` as ImageTaskKind, portrait.path, settings)

const inside = (i: number): boolean => where(skin, (value) => value > 0.5)(i)
const outside = (i: number): boolean => where(skin, (value) => value < 1e-3)(i)
/** Fine contrast of the skin. */
const texture = (pixels: Pixels): number => fineVariance(pixels, inside)

const bare = { sharpen: 0, smart_grain: 0 }

describe('skin enhancement', () => {
  test('creative keeps less texture than flexible, and flexible less than the source', async () => {
    const [creative, flexible] = await series(['creative', 'flexible'], (mode) =>
      enhance(mode, bare),
    )
    assertRises([creative, flexible, portrait.pixels].map(texture), 2, 'texture')
  })

  test('skin_detail keeps texture, all of it at 100', async () => {
    const render = (skin_detail: number) => enhance('faithful', { ...bare, skin_detail })
    assertRises(await slide(QUARTERS, render, texture), 5, 'texture')
    assertSamePixels(await render(100), portrait.pixels)
  })

  test('faithful leaves what is not skin as it is', async () => {
    const result = await enhance('faithful', { sharpen: 0, smart_grain: 100, skin_detail: 0 })
    assert.equal(difference(result, portrait.pixels, outside), 0)
    assertBelow(1, difference(result, portrait.pixels, inside), 'change of skin')
  })

  test('a picture without skin passes through faithful unchanged', async () => {
    const blue = await draw({ width: 40, height: 30 }, (x, y) => [x, 2 * y, 120 + x])
    const path = await fixture.write('blue.png', blue)
    const pixels = await fixture.render('skin_faithful', path, { skin_detail: 0 })
    const again = await fixture.render('relight', path)
    assertSamePixels(pixels, again)
  })

  for (const mode of ['flexible', 'creative', 'faithful'])
    for (const [name, what, measure, least] of [
      ['sharpen', 'fine contrast', fineVariance, 20],
      ['smart_grain', 'the texture of skin', texture, 5],
    ] as const)
      test(`${name} raises ${what} in ${mode}`, async () => {
        const render = (value: number) => enhance(mode, { [name]: value })
        assertRises(await slide(QUARTERS, render, measure), least, what)
      })
})

/** The result of enhance_skin and that of another aim. */
const both = (aim: string): Promise<[Pixels, Pixels]> =>
  series(['enhance_skin', aim], (optimized_for) => enhance('flexible', { optimized_for }))

const skinVariance = ({ values }: Plane): number => variance(values.filter((_, i) => inside(i)))

const colourSpread = (pixels: Pixels): number => {
  const { cb, cr } = colourDifferences(pixels)
  return skinVariance(cb) + skinVariance(cr)
}

describe('optimized_for against enhance_skin', () => {
  test('improve_lighting is brighter', async () => {
    assertRises((await both('improve_lighting')).map(meanLuma), 3, 'mean luma')
  })

  test('enhance_everything has more fine contrast', async () => {
    const fine = (await both('enhance_everything')).map((each) => fineVariance(each))
    assertRises(fine, 5, 'fine variance')
  })

  test('transform_to_real is less colourful', async () => {
    const [usual, real] = await both('transform_to_real')
    assertBelow(chroma(real), 0.95 * chroma(usual), 'chroma')
  })

  test('no_make_up evens the colour of skin', async () => {
    const [usual, even] = await both('no_make_up')
    assertBelow(colourSpread(even), 0.95 * colourSpread(usual), 'spread of colour')
  })
})
