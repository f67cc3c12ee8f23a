/**
 * Makes the pictures and the video that the console shows visitors as computed before, with the engines as they are now:
 * `node tools/run.mjs tools/samples.ts`. Needs ffmpeg. Run it again once an engine gives other results: a test fails then.
 */
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import sharp, { type Sharp } from 'sharp'
import { Value } from 'typebox/value'

import { PICTURES, SAMPLES, type Sample } from '../packages/console/src/samples/list.ts'
import { findVideoBinaries } from '../packages/engines/src/binaries.ts'
import type { ImageJob } from '../packages/engines/src/image-job.ts'
import { renderImage } from '../packages/engines/src/image/render.ts'
import { makeVideoEngine } from '../packages/engines/src/video-engine.ts'
import { ROOT } from '../src/local/root.ts'
import { IMAGE_KINDS } from '../src/tasks/domain/image/image-kind.ts'
import type { ImageTaskKind } from '../src/tasks/domain/image/image-kind.ts'
import { isNeutral, readPrompt } from '../src/tasks/domain/image/prompt-light.ts'

const SOURCES = join(ROOT, 'packages/console/src')
const OUT = join(SOURCES, 'samples')
const PORTRAIT = join(ROOT, 'samples/portrait.png')
const MAX_PIXELS = 10_000_000

/** Parts of the portrait, and the width that each is reduced to. */
const CUTS = {
  eye: { left: 330, top: 290, width: 200, height: 150, to: 120 },
  face: { left: 190, top: 300, width: 400, height: 300, to: 400 },
}

/** A picture small enough to be shipped, whose differences from what was rendered are not seen. */
const keep = async (picture: Sharp, name: string, quality = 86): Promise<void> =>
  void (await picture.webp({ quality }).toFile(join(OUT, `${name}.webp`)))

const cutPictures = async (): Promise<void> => {
  for (const [name, { to, ...place }] of Object.entries(CUTS))
    await keep(sharp(await sharp(PORTRAIT).extract(place).toBuffer()).resize(to), name)
}

const renderPicture = async (sample: Sample, scratchDir: string): Promise<string | Uint8Array> => {
  const kind = sample.kind as ImageTaskKind
  const settings = Value.Default(IMAGE_KINDS[kind].settings, structuredClone(sample.settings))
  const light = readPrompt(String(sample.settings['prompt'] ?? ''))
  const image = { path: join(SOURCES, PICTURES[sample.picture ?? 'portrait']) }
  const lit = !isNeutral(light) && { light }
  const job = { kind, settings, inputs: { image }, scratchDir, ...lit } as ImageJob
  const [made] = await renderImage(job, { maxPixels: MAX_PIXELS, onProgress: () => {} })
  if (!made) throw new Error(`nothing was rendered of ${sample.id}`)
  return made.file
}

const renderVideo = async (sample: Sample, scratchDir: string): Promise<void> => {
  const search = { ffmpegPath: process.env['FFMPEG_PATH'], searchPath: process.env['PATH'] ?? '' }
  const binaries = await findVideoBinaries({ ...search, production: false })
  const engine = makeVideoEngine({ binaries, maxPixels: MAX_PIXELS })
  const { prompt, duration, seed } = sample.settings
  const made = await engine.render(
    {
      width: 480,
      height: 270,
      seconds: Number(duration),
      seed: Number(seed),
      prompt: String(prompt),
      movement: 'auto',
      style: 'general',
      audio: 'none',
      bgm: false,
      scratchDir,
      deadlineMs: 600_000,
    },
    { signal: new AbortController().signal, onProgress: () => {} },
  )
  await cp(made.video, join(OUT, `${sample.id}.mp4`))
  await keep(sharp(made.cover), sample.id)
}

/** A card of the first page: the left half before, the right one after. */
const makeCard = async (name: string, before: string, after: string): Promise<void> => {
  const [width, height] = [320, 240]
  const right = { left: width / 2, top: 0, width: width / 2, height }
  const half = await sharp(join(OUT, `${after}.webp`))
    .resize(width, height)
    .extract(right)
    .toBuffer()
  const line = { create: { width: 2, height, channels: 3, background: '#fff' } } as const
  const whole = sharp(join(OUT, `${before}.webp`)).resize(width, height, { kernel: 'nearest' })
  await keep(
    whole.composite([
      { input: half, left: right.left, top: 0 },
      { input: line, left: right.left - 1, top: 0 },
    ]),
    name,
    // The first page loads them.
    50,
  )
}

const dir = await mkdtemp(join(tmpdir(), 'kiln-samples-'))
try {
  await cutPictures()
  for (const sample of SAMPLES) {
    const scratchDir = join(dir, sample.id)
    await mkdir(scratchDir)
    if (sample.picture) await keep(sharp(await renderPicture(sample, scratchDir)), sample.id)
    else await renderVideo(sample, scratchDir)
  }
  await makeCard('card-upscale', 'eye', 'enlarged')
  await makeCard('card-skin', 'face', 'smooth')
} finally {
  await rm(dir, { recursive: true, force: true })
}
