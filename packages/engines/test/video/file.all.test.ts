import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import sharp from 'sharp'
import { difference, quiet, useStudio } from './studio.ts'
import { sha256Of } from '../../../../test/support/digest.ts'
import { use } from '../../../../test/support/use.ts'

const SMALL = { width: 160, height: 90 }

const digest = async (path: string): Promise<string> => sha256Of(await readFile(path))

describe('the file of a video', () => {
  const studio = useStudio()
  const plain = use(() => studio.render({ ...SMALL, audio: 'all' }))

  test('is H.264 High, 24 frames for each second, with its index first', async () => {
    const result = await studio.render({ seconds: 2, width: 320, height: 240, audio: 'all' })
    const { video, cover, ...facts } = result
    assert.match(cover, /\/cover\.jpg$/)
    assert.deepEqual(facts, { width: 320, height: 240, fps: 24, frames: 48, hasAudio: true })
    const [picture = {}, sound = {}] = studio.probe(video).streams
    const { codec_name, profile, pix_fmt, avg_frame_rate, width, height } = picture
    assert.deepEqual([codec_name, profile, pix_fmt], ['h264', 'High', 'yuv420p'])
    assert.deepEqual([avg_frame_rate, width, height], ['24/1', 320, 240])
    assert.equal(studio.decode(video).length, 48)
    const heard = [sound.codec_name, sound.profile, sound.sample_rate, sound.channels]
    assert.deepEqual(heard, ['aac', 'LC', '48000', 2])
    assert.ok(Math.abs(Number(sound.duration) - 2) <= 1024 / 48_000)
    const bytes = await readFile(video)
    assert.ok(bytes.indexOf('moov') < bytes.indexOf('mdat'))
  })

  test('has no sound when none is asked for', async () => {
    const { video, hasAudio } = await studio.render(SMALL)
    assert.equal(hasAudio, false)
    assert.equal(studio.probe(video).streams.length, 1)
  })

  test('has the same bytes for the same request, and others for another seed', async () => {
    const plan = { ...SMALL, prompt: 'a lake at night', audio: 'all', bgm: true } as const
    const [one, same, other] = await Promise.all([
      studio.render(plan),
      studio.render(plan),
      studio.render({ ...plan, seed: 8 }),
    ])
    assert.equal(await digest(one.video), await digest(same.video))
    assert.notEqual(await digest(one.video), await digest(other.video))
  })

  test('has 8 frames of 96×64 when it is a tiny one', async () => {
    const result = await studio.render({ tiny: true, seconds: 5, audio: 'all', prompt: 'forest' })
    assert.deepEqual([result.width, result.height, result.frames], [96, 64, 8])
    assert.equal(studio.decode(result.video).length, 8)
  })

  test('leaves nothing else in the folder of the attempt', async () => {
    const job = await studio.makeJob(SMALL)
    await studio.engine.render(job, quiet())
    assert.deepEqual((await readdir(job.scratchDir)).toSorted(), ['cover.jpg', 'video.mp4'])
  })

  test('has its first frame as the cover', async () => {
    const { video, cover } = await studio.render({ prompt: 'sunset' })
    const picture = sharp(cover)
    assert.equal((await picture.metadata()).format, 'jpeg')
    assert.ok(difference(studio.first(video), await picture.raw().toBuffer()) < 2.5)
  })

  const texts: Record<string, string> = {
    'with signs that a metadata file escapes':
      ' {"k = v;#\\n":\n\t"x\\\\",\r\n "é":"𝄞水","b":["=","#"]} \n ',
    'of 65,536 characters': JSON.stringify({ k: '水'.repeat(65_528) }),
    'that begins and ends with line ends': '\n\n{}\n',
  }
  for (const [name, metaData] of Object.entries(texts))
    test(`keeps meta_data ${name} in its comment, byte for byte`, async () => {
      const watermark = { position: 1 } as const
      const marked = await studio.render({ ...SMALL, audio: 'all', metaData, watermark })
      for (const path of [marked.video, marked.watermarked ?? ''])
        assert.equal(studio.probe(path).format.tags.comment, metaData)
      // The samples lie elsewhere now, and are found all the same.
      assert.deepEqual(studio.decode(marked.video), studio.decode(plain.video))
      assert.deepEqual(studio.listen(marked.video), studio.listen(plain.video))
    })

  test('reports progress in whole numbers that rise to 100', async () => {
    const seen: number[] = []
    const job = await studio.makeJob({ ...SMALL, seconds: 3 })
    const onProgress = (percent: number) => void seen.push(percent)
    await studio.engine.render(job, { ...quiet(), onProgress })
    assert.ok(seen.every((percent, i) => Number.isInteger(percent) && percent > (seen[i - 1] ?? 0)))
    assert.equal(seen[0], 1)
    assert.equal(seen.at(-1), 100)
  })
})
