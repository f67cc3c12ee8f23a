import { mkdir } from 'node:fs/promises'
import sharp from 'sharp'
import { makeCamera } from './camera.ts'
import { develop } from './develop.ts'
import { render } from './render.ts'
import { paint } from "./paint.ts"
import { sunset } from "./sunset.ts"
import { blinds } from "./blinds.ts"
import { makeStillLife } from './still-life.ts'
import { drawHair } from './portrait-hair.ts'
import { makePortrait, PORTRAIT_VIEW, POSE } from './portrait.ts'

const OUT = process.env['OUT'] ?? new URL('../../samples/', import.meta.url).pathname
await mkdir(OUT, { recursive: true })
const t0 = Date.now()
const ss = Number(process.env['SS'] ?? 2)
const which = process.argv[2] ?? 'portrait'
if (which === 'still') {
  const size = { width: 800 * ss, height: 600 * ss }
  const camera = makeCamera({ eye: [0.3, 3.3, 8.6], target: [0.05, 1.38, 0], angle: 29, ...size })
  const picture = render(makeStillLife(), camera, size, { shadow: 3, ambient: 6, reach: 2.5 })
  const { data, width, height } = develop(picture, 1)
  await sharp(data, { raw: { width, height, channels: 3 } }).png({ compressionLevel: 9 }).toFile(`${OUT}still-life.png`)
} else {
  const size = { width: 768 * ss, height: 960 * ss }
  const camera = makeCamera({ ...PORTRAIT_VIEW, ...size })
  const picture = render(makePortrait(), camera, size, { shadow: 3, ambient: 6, reach: 1.5 })
  console.log('scene', Date.now() - t0)
  drawHair(picture, { scene: makePortrait(), camera, pose: POSE })
  const { data, width, height } = develop(picture, 1)
  await sharp(data, { raw: { width, height, channels: 3 } }).png({ compressionLevel: 9 }).toFile(`${OUT}portrait.png`)
}
console.log(Date.now() - t0)
