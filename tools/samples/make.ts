import { mkdir, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import sharp from 'sharp'
import type { Sharp } from 'sharp'
import { blinds } from './blinds.ts'
import { makeCamera } from './camera.ts'
import { develop, developCutout } from './develop.ts'
import type { Bitmap } from './develop.ts'
import { paint } from './paint.ts'
import { drawHair } from './portrait-hair.ts'
import { makePortrait, PORTRAIT_VIEW, POSE } from './portrait.ts'
import { render } from './render.ts'
import { makeStillLife, makeVaseAlone, TABLE_VIEW, VASE_VIEW } from './still-life.ts'
import { sunset } from './sunset.ts'

/**
 * Draws the sample pictures into `samples/`, or into the folder of `--out`; names after that draw only those. The same
 * version of sharp writes the same bytes each time. Pictures are drawn at twice their size and halved.
 */
async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: { out: { type: 'string', default: SAMPLES } },
    allowPositionals: true,
  })
  await mkdir(values.out, { recursive: true })
  for (const [name, draw] of Object.entries(DRAWINGS)) {
    if (positionals.length > 0 && !positionals.includes(name)) continue
    for (const [file, image] of draw())
      await writeFile(`${values.out}/${file}`, await image.toBuffer())
  }
}

const SAMPLES = fileURLToPath(new URL('../../samples', import.meta.url))

/** Files and their pictures, ready to be written; one drawing may serve two files. */
type Files = readonly (readonly [string, Sharp])[]

const DRAWINGS: Readonly<Record<string, () => Files>> = {
  portrait: () => [['portrait.png', png(drawPortrait())]],
  'still-life': () => {
    const bitmap = drawStillLife()
    return [
      ['still-life.png', png(bitmap)],
      ['thumbnail.jpg', raw(bitmap).extract(FRUIT).resize(320, 240).jpeg({ quality: 88 })],
    ]
  },
  'sunset-light': () => [['sunset-light.png', png(develop(paint(LIGHT_SIZE, sunset)))]],
  lightmap: () => [['lightmap.png', png(develop(paint(LIGHT_SIZE, blinds))).toColourspace('b-w')]],
  cutout: () => [['cutout.webp', raw(drawVase()).webp({ lossless: true, effort: 6 })]],
}

const LIGHT_SIZE = { width: 960, height: 640 }

/** Fruit, cloth and a part of the vase. */
const FRUIT = { left: 150, top: 115, width: 640, height: 480 }

/** Rays per cell: below these numbers soft shadows show grain. */
const EFFORT = { shadow: 2, ambient: 4 }

function drawPortrait(): Bitmap {
  const size = { width: 1536, height: 1920 }
  const camera = makeCamera({ ...PORTRAIT_VIEW, ...size })
  const scene = makePortrait()
  const picture = render(scene, camera, size, { ...EFFORT, reach: 1.5 })
  drawHair(picture, { scene, camera, pose: POSE })
  return develop(picture)
}

function drawStillLife(): Bitmap {
  const size = { width: 1600, height: 1200 }
  const camera = makeCamera({ ...TABLE_VIEW, ...size })
  return develop(render(makeStillLife(), camera, size, { ...EFFORT, reach: 2.5 }))
}

function drawVase(): Bitmap {
  const size = { width: 800, height: 800 }
  const camera = makeCamera({ ...VASE_VIEW, ...size })
  return developCutout(render(makeVaseAlone(), camera, size, { ...EFFORT, reach: 2.5 }))
}

const raw = ({ data, width, height, channels }: Bitmap): Sharp =>
  sharp(data, { raw: { width, height, channels } })

const png = (bitmap: Bitmap): Sharp =>
  raw(bitmap).png({ compressionLevel: 9, adaptiveFiltering: true })

await main()
