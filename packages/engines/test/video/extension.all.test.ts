import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import { makeVideoEngine } from '../../src/video-engine.ts'
import { difference, level, mean, paint, quiet, useStudio } from './studio.ts'

const SIZE = { width: 160, height: 90 }
const ISO_HEAD = Buffer.from('\0\0\0\x18ftypisom', 'latin1')

describe('a video that is continued', () => {
  const studio = useStudio()
  let path: string
  before(() => void (path = make('source.mp4')))

  /** A test card of 30 frames a second with a tone. */
  const make = (
    name: string,
    { seconds = 4, size = '320x180', args = [] as string[], sound = true } = {},
  ): string => {
    const file = join(studio.dir, name)
    const card = ['-f', 'lavfi', '-i', `testsrc=size=${size}:rate=30:duration=${seconds}`]
    const tone = ['-f', 'lavfi', '-i', `sine=frequency=440:sample_rate=44100:duration=${seconds}`]
    const codec = ['-pix_fmt', 'yuv420p', '-preset', 'ultrafast']
    studio.ffmpeg(...card, ...(sound ? tone : []), ...codec, ...args, file)
    return file
  }

  /** Continues a source by a second. */
  const extend = (source: { path: string; isOwn?: boolean }, part: object = {}) =>
    studio.render({ ...SIZE, source, seconds: 1, ...part })
  const probe = (file: string, engine = studio.engine) =>
    engine.probeSource({ path: file }, { signal: quiet().signal, scratchDir: studio.dir })

  test('is the whole source and what comes after it, with its sound and then silence', async () => {
    const { video, frames, hasAudio } = await extend({ path })
    assert.deepEqual([frames, hasAudio], [120, true])
    const decoded = studio.decode(video)
    assert.equal(decoded.length, 120)
    const [early, last, next, end] = [decoded[10], decoded[95], decoded[96], decoded[119]]
    assert.ok(early && last && next && end)
    assert.ok(difference(early, last) > 3)
    assert.ok(difference(last, next) < 2)
    assert.ok(difference(last, end) > 5)
    const sound = studio.listen(video)
    assert.ok(Math.abs(sound.length - 5 * 48_000) <= 1024)
    assert.ok(level(sound.subarray(48_000, 3.9 * 48_000)) > 0.05)
    assert.ok(level(sound.subarray(4.1 * 48_000)) < 0.001)
  })

  test('ends on the end image, after a cross-fade', async () => {
    const { video } = await extend({ path }, { endImage: { path: await studio.paint('#24b') } })
    const decoded = studio.decode(video)
    const blue = Buffer.alloc(SIZE.width * SIZE.height * 3, Buffer.from([0x22, 0x44, 0xbb]))
    const far = decoded.map((frame) => difference(frame, blue))
    assert.equal(decoded.length, 120)
    assert.ok((far.at(-1) ?? 99) < 3, `${far.at(-1)}`)
    assert.ok((far[97] ?? 0) > 50)
    // Falls all the way.
    const tail = far.slice(98)
    assert.ok(tail.every((value, i) => i === 0 || value <= (tail[i - 1] ?? 0) + 1.5))
  })

  test('has no sound when the source has none', async () => {
    const silent = make('silent.mkv', { sound: false, seconds: 4.5 })
    const { hasAudio, frames } = await extend({ path: silent })
    assert.deepEqual([hasAudio, frames], [false, 132])
  })

  test('takes what this service has made at any length, with any ffmpeg', async () => {
    const own = { path: make('own.mp4', { seconds: 1 }), isOwn: true }
    const { frames } = await extend(own)
    assert.equal(frames, 48)
  })

  test('takes Matroska and MOV, with any name, and returns what they are', async () => {
    const facts = { stream: 0, width: 320, height: 180, hasAudio: true }
    const shown = async (file: string) => {
      const { seconds, ...rest } = await probe(file)
      assert.ok(Math.abs(seconds - 4) < 0.05, `${seconds}`)
      return rest
    }
    assert.deepEqual(await shown(path), { container: 'mov', ...facts })
    assert.deepEqual(await shown(make('source.mkv')), { container: 'matroska', ...facts })
    const named = make('source.txt', { args: ['-f', 'mov'] })
    assert.deepEqual(await shown(named), { container: 'mov', ...facts })
  })

  test('is as large as a source is shown, not as it is stored', async () => {
    const wide = make('wide.mp4', { args: ['-vf', 'setsar=2'] })
    const { width, height } = await probe(wide)
    assert.deepEqual([width, height], [640, 180])
  })

  test('stands upright when its source is turned', async () => {
    // Red above, green below, stored lying on its side.
    const lying = join(studio.dir, 'lying.mp4')
    const turned = join(studio.dir, 'turned.mp4')
    const card =
      'color=red:size=90x160:rate=24:duration=4[a];color=lime:size=90x160:rate=24:duration=4[b]'
    studio.ffmpeg('-filter_complex', `${card};[a][b]hstack`, '-pix_fmt', 'yuv420p', lying)
    await writeFile(turned, turn(await readFile(lying)))
    const { width, height } = await probe(turned)
    assert.deepEqual([width, height], [160, 180])
    const { video } = await extend({ path: turned }, { width, height })
    const first = studio.first(video)
    const half = first.length / 2
    const [above, below] = [first.subarray(0, half), first.subarray(half)]
    assert.ok(Math.abs(mean(above, 0) - mean(below, 0)) > 150)
  })

  test('shows the video of its source, not a cover that comes before it', async () => {
    const cover = await studio.paint('#f00', 64, 64)
    const plain = join(studio.dir, 'plain.mp4')
    const film = ['-f', 'lavfi', '-i', 'color=blue:size=64x64:rate=24:duration=4']
    const args = ['-map', '0', '-map', '1', '-c:0', 'libx264', '-pix_fmt:0', 'yuv420p', '-c:1']
    studio.ffmpeg(...film, '-i', cover, ...args, 'copy', '-disposition:1', 'attached_pic', plain)
    const covered = await write('covered.mp4', tagsFirst(await readFile(plain)))
    const first = studio.probe(covered).streams[0]
    assert.equal(first?.codec_name, 'png')
    const { video } = await extend({ path: covered })
    assert.ok(mean(studio.first(video), 2) > 200, 'it is blue')
  })

  const rejected: [string, () => string | Promise<string>, RegExp][] = [
    ['shorter than 4 s', () => make('short.mp4', { seconds: 3 }), /4 to 60 s long, got 3\.00 s/],
    [
      'longer than 60 s',
      () => make('long.mp4', { seconds: 61, size: '32x32', args: ['-r', '2'], sound: false }),
      /got 6[12]\.\d\d s/,
    ],
    ['too small', () => make('small.mp4', { size: '16x14' }), /16 to 4096 pixels, got 16×14/],
    [
      'without pictures',
      () => {
        const file = join(studio.dir, 'sound.m4a')
        studio.ffmpeg('-f', 'lavfi', '-i', 'sine=duration=5', '-f', 'mp4', file)
        return file
      },
      /no video stream/,
    ],
    [
      'that is a playlist',
      () => write('list.mp4', '#EXTM3U\n#EXTINF:5,\nfile:///etc/passwd\n'),
      /not MP4/,
    ],
    [
      'that is an image',
      async () => write('image.mp4', await paint(64, 64, '#777').avif().toBuffer()),
      /not MP4/,
    ],
    [
      'that only begins like one',
      () => write('noise.mp4', Buffer.concat([ISO_HEAD, Buffer.alloc(4096, 7)])),
      /cannot be decoded/,
    ],
    [
      'whose text says that its pictures are smaller than they are',
      async () => {
        const large = join(studio.dir, 'large.mkv')
        const film = ['-f', 'lavfi', '-i', 'color=red:size=8000x3000:rate=1:duration=5']
        const tag = ['-metadata:s:v', 'abcdef=0|width=64']
        studio.ffmpeg(...film, '-c:v', 'png', ...tag, large)
        // ffmpeg itself writes no `rotate`.
        const bytes = (await readFile(large)).toString('latin1').replace('ABCDEF', 'rotate')
        return write('large.mkv', Buffer.from(bytes, 'latin1'))
      },
      /16 to 4096 pixels/,
    ],
    [
      'of more packets than 64 streams have',
      async () => {
        const film = await readFile(make('few.mkv', { size: '32x32', sound: false }))
        return write('many.mkv', Buffer.concat([film, clusterOf(200_000)]))
      },
      /more than 200,000 packets/,
    ],
    ['that is empty', () => write('empty.mp4', ''), /not MP4/],
  ]
  const write = async (name: string, content: string | Buffer): Promise<string> => {
    const file = join(studio.dir, name)
    await writeFile(file, content)
    return file
  }
  for (const [name, source, message] of rejected)
    test(`is rejected for a source ${name}`, async () => {
      const error = { name: 'InputError', code: 'video_invalid', message }
      await assert.rejects(probe(await source()), error)
    })

  test('is rejected where no ffmpeg may read it', async () => {
    const binaries = { ...studio.binaries, readsCallerVideo: false }
    const engine = makeVideoEngine({ binaries, maxPixels: 1e6 })
    await assert.rejects(probe(path, engine), { name: 'InputError', code: 'no_decoder' })
  })
})

/** Moves the tags of an MP4, with its cover, before its tracks. */
const tagsFirst = (file: Buffer): Buffer => {
  const boxAt = (type: string): Buffer => {
    const at = file.indexOf(type) - 4
    return file.subarray(at, at + file.readUInt32BE(at))
  }
  const [index, track, tags] = [boxAt('moov'), boxAt('trak'), boxAt('udta')]
  const start = file.indexOf('trak') - 4
  const rest = index.subarray(start - (file.indexOf('moov') - 4))
  assert.deepEqual(rest, Buffer.concat([track, tags]))
  return Buffer.concat([
    file.subarray(0, start),
    tags,
    track,
    file.subarray(start + tags.length + track.length),
  ])
}

/** A cluster of Matroska with blocks of one byte. */
const clusterOf = (blocks: number): Buffer => {
  const body = Buffer.concat([
    Buffer.from('e78100', 'hex'),
    Buffer.alloc(7 * blocks, Buffer.from('a3858100000000', 'hex')),
  ])
  const head = Buffer.from('1f43b6750100000000000000', 'hex')
  head.writeUIntBE(body.length, 6, 6)
  return Buffer.concat([head, body])
}

/** Sets the matrix in the header of the first track: shown turned by a quarter. Options for that differ by version. */
const turn = (file: Buffer): Buffer => {
  const matrix = [0, 65_536, 0, -65_536, 0, 0, 0, 0, 1 << 30]
  for (const [i, value] of matrix.entries())
    file.writeInt32BE(value, file.indexOf('tkhd') + 44 + i * 4)
  return file
}
