import assert from 'node:assert/strict'
import { test } from 'node:test'

import { draw, useFixture } from './fixture.ts'
import { mean, type Pixels } from './measure.ts'

/** A cool wall with a beige box at its left. */
let scene: string
const fixture = useFixture(16, async ({ write }) => {
  const isBox = (x: number, y: number) => x >= 24 && x < 72 && y >= 120
  const colour = (x: number, y: number) => (isBox(x, y) ? [205, 185, 150] : [138, 157, 166])
  scene = await write('scene.png', await draw({ width: 320, height: 240 }, colour))
})

/** Mean colours of columns of 8 pixels, in a band of rows. */
const columns = ({ width, data }: Pixels, top: number): number[][] =>
  Array.from({ length: width / 8 }, (_, column) =>
    [0, 1, 2].map((colour) =>
      mean(
        Array.from({ length: 8 * 40 }, (_cell, i) => {
          const at = (top + (i >> 3)) * width + column * 8 + (i & 7)
          return data[at * 3 + colour] ?? Number.NaN
        }),
      ),
    ),
  )

test('warm light from the left turns a cool wall warm, falls evenly and burns nothing', async () => {
  const prompt = 'warm evening sun from the left, shadow on the right'
  const pixels = await fixture.render('relight', scene, { prompt })
  const wall = columns(pixels, 20)
  const [litRed = 0, , litBlue = 0] = wall[0] ?? []
  assert.ok(litRed > litBlue + 10, `a lit wall as cool as it was: ${litRed}, ${litBlue}`)
  for (const colour of [0, 1, 2])
    for (const [i, column] of wall.slice(1).entries())
      assert.ok((column[colour] ?? 0) <= (wall[i]?.[colour] ?? 0), `column ${i} of ${colour}`)
  assert.ok(!pixels.data.includes(255), 'a colour is cut off')
  const [red = 0, , blue = 0] = columns(pixels, 180)[5] ?? []
  assert.ok(red - blue > 55, `a box as beige as it was: ${red}, ${blue}`)
})

test('a smooth light has no bands: neighbouring levels mingle', async () => {
  const { data, width } = await fixture.render('relight', scene, { prompt: 'light from the left' })
  const row = Array.from({ length: width }, (_, x) => data[(60 * width + x) * 3] ?? 0)
  const turns = row.filter((level, x) => level > (row[x - 1] ?? level)).length
  assert.ok(turns > 5, `${turns} rises in a falling light`)
})
