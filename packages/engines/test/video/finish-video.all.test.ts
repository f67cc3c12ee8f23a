import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'

import sharp from 'sharp'

import { animate } from '../../../../test/support/comfyui/render.ts'
import { makeFinishVideo } from '../../src/finish-video.ts'
import { quiet, useStudio } from './studio.ts'

const FRAME = { width: 320, height: 180 }

describe('a video that another program has made', () => {
  const studio = useStudio()

  /** A gray film of one second with a tone, at 12 frames, with a title. */
  const makeFilm = async () => {
    const { scratchDir } = await studio.makeJob()
    const path = join(scratchDir, 'made.mp4')
    const picture = `color=c=0x808080:s=${FRAME.width}x${FRAME.height}:r=12:d=1`
    const sources = ['-f', 'lavfi', '-i', picture, '-f', 'lavfi', '-i', 'sine=d=1']
    studio.ffmpeg(...sources, '-metadata', 'comment=a secret', '-pix_fmt', 'yuv420p', path)
    const finish = makeFinishVideo({ binaries: studio.binaries, maxPixels: 1e6 })
    return { path, scratchDir, finish }
  }
  /** Brightness of a corner of the first frame, at most. */
  const brightest = (path: string, isLeft: boolean): number => {
    const [frame = assert.fail()] = studio.decode(path, 1)
    const pixels = Array.from({ length: frame.length / 3 }, (_, index) => index)
    const corner = pixels.filter((pixel) => {
      const [x, y] = [pixel % FRAME.width, Math.floor(pixel / FRAME.width)]
      return y < 40 && x < 60 === isLeft
    })
    return Math.max(...corner.map((pixel) => frame[pixel * 3] ?? 0))
  }

  test('has a second copy with a watermark, at its rate and with its sound', async () => {
    const { path, finish, ...attempt } = await makeFilm()
    const made = await finish(path, { ...quiet(), ...attempt, watermark: { position: 1 } })
    const { video, watermarked = assert.fail(), fps, seconds } = made
    assert.deepEqual([fps, Math.round(seconds)], [12, 1])
    for (const file of [video, watermarked]) {
      const [picture, sound] = studio.probe(file).streams
      assert.deepEqual([picture?.avg_frame_rate, sound?.codec_name], ['12/1', 'aac'])
      assert.equal(studio.decode(file).length, 12)
      assert.ok(!(await readFile(file)).includes('secret'))
    }
    const corners = [video, watermarked].map((file) =>
      [true, false].map((isLeft) => brightest(file, isLeft) > 180),
    )
    assert.deepEqual(corners, [
      [false, false],
      [true, false],
    ])
  })

  for (const extension of ['gif', 'png', 'webp'] as const)
    test(`is made of an animation of ${extension}, with its length`, async () => {
      const { scratchDir } = await studio.makeJob()
      const path = join(scratchDir, `made.${extension}`)
      const pngs = await Promise.all(
        ['red', 'lime', 'blue'].map((background) =>
          sharp({ create: { ...FRAME, channels: 3, background } })
            .png()
            .toBuffer(),
        ),
      )
      await writeFile(path, await animate(pngs, { extension, ms: 250, text: 'a secret' }))
      const finish = makeFinishVideo({ binaries: studio.binaries, maxPixels: 1e6 })
      const { video, seconds, width } = await finish(path, { ...quiet(), scratchDir })
      assert.equal(width, FRAME.width)
      assert.ok(seconds > 0.6 && seconds < 0.9, String(seconds))
      const [frame = assert.fail()] = studio.decode(video, 1)
      assert.ok((frame[0] ?? 0) > 200 && (frame[1] ?? 0) < 60)
      assert.ok(!(await readFile(video)).includes('secret'))
    })

  test('has none where none is wanted', async () => {
    const { path, finish, ...attempt } = await makeFilm()
    assert.equal((await finish(path, { ...quiet(), ...attempt })).watermarked, undefined)
  })
})
