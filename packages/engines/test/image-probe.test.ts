import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { deflateSync } from 'node:zlib'

import sharp from 'sharp'

import { probeImage } from '../src/image-probe.ts'
import { InputError } from '../src/input-error.ts'
import { useFolder } from '../../../test/support/folder.ts'
import { makePicture } from '../../../test/support/pictures.ts'
import { gifOfFrames, makeTiff, pngChunk, pngOfTexts, webpOfFrames } from './image-bombs.ts'

const MAX_PIXELS = 100_000_000

describe('image probe', () => {
  const folder = useFolder()

  const probe = async (bytes: Buffer, maxPixels = MAX_PIXELS) => {
    const path = join(folder, 'file')
    await writeFile(path, bytes)
    return await probeImage(path, { maxPixels })
  }

  const rejected = (code: string, message?: RegExp) => (error: unknown) => {
    assert.ok(error instanceof InputError, String(error))
    assert.equal(error.code, code)
    assert.ok(!error.message.includes(folder))
    if (message !== undefined) assert.match(error.message, message)
    return true
  }

  for (const [format, extension, contentType] of [
    ['jpeg', 'jpg', 'image/jpeg'],
    ['png', 'png', 'image/png'],
    ['webp', 'webp', 'image/webp'],
    ['avif', 'avif', 'image/avif'],
    ['tiff', 'tiff', 'image/tiff'],
    ['gif', 'gif', 'image/gif'],
  ] as const) {
    test(`knows a ${format}`, async () => {
      const picture = await makePicture({ width: 40, height: 20, format })
      const { hasAlpha, isPlain, ...found } = await probe(picture)
      assert.deepEqual(found, { format, extension, contentType, width: 40, height: 20, frames: 1 })
      // libvips gives every GIF an alpha channel, because only decoding shows whether a frame is transparent.
      assert.equal(hasAlpha, format === 'gif')
      assert.equal(isPlain, ['jpeg', 'png', 'webp'].includes(format))
    })
  }

  test('sees an alpha channel, also that of a palette', async () => {
    const clear = sharp({ create: { width: 3, height: 3, channels: 4, background: '#f008' } })
    for (const palette of [false, true]) {
      assert.equal((await probe(await clear.clone().png({ palette }).toBuffer())).hasAlpha, true)
    }
  })

  test('says of a picture that programs may show differently that it is not plain', async () => {
    const plain = sharp(await makePicture({ width: 40, height: 20, format: 'png' }))
    const turned = plain.clone().jpeg().withMetadata({ orientation: 6 })
    const deep = plain.clone().toColourspace('rgb16').png()
    const profiled = plain.clone().jpeg().withIccProfile('p3')
    for (const [index, one] of [turned, deep, profiled].entries())
      assert.equal((await probe(await one.toBuffer())).isPlain, false, `picture ${index}`)
  })

  test('gives the size after EXIF orientation', async () => {
    const picture = await sharp(await makePicture({ width: 40, height: 20, format: 'jpeg' }))
      .withMetadata({ orientation: 6 })
      .jpeg()
      .toBuffer()
    const { width, height } = await probe(picture)
    assert.deepEqual([width, height], [20, 40])
  })

  test('gives the size of the first frame of an animation', async () => {
    const frames = sharp(Buffer.from(Array.from({ length: 900 }, (_, at) => at % 251)), {
      raw: { width: 10, height: 30, channels: 3, pageHeight: 10 },
    })
    const found = await probe(await frames.gif().toBuffer())
    assert.deepEqual([found.width, found.height, found.frames], [10, 10, 3])
  })

  test('counts width × height against the limit', async () => {
    const picture = await makePicture({ width: 40, height: 20 })
    assert.equal((await probe(picture, 800)).width, 40)
    await assert.rejects(probe(picture, 799), rejected('pixel_limit', /40 × 20 .* 799/))
  })

  test('reports a PNG that declares 50,000 × 50,000 by its size', async () => {
    const png = declarePng(50_000, 50_000)
    await assert.rejects(probe(png), rejected('pixel_limit', /50000 × 50000/))
  })

  test('reports an AVIF that declares 50,000 × 50,000 by its size', async () => {
    const avif = await makePicture({ format: 'avif' })
    const size = avif.indexOf('ispe') + 8
    avif.writeUInt32BE(50_000, size)
    avif.writeUInt32BE(50_000, size + 4)
    await assert.rejects(probe(avif), rejected('pixel_limit'))
  })

  test('passes a JPEG that is cut behind its header', async () => {
    const jpeg = await makePicture({ width: 200, height: 200, format: 'jpeg' })
    assert.equal((await probe(jpeg.subarray(0, jpeg.length / 2))).width, 200)
  })

  const REJECTED: [title: string, bytes: () => Buffer | Promise<Buffer>][] = [
    ['an empty file', () => Buffer.alloc(0)],
    ['one byte', () => Buffer.from([0xff])],
    ['text', () => Buffer.from('plain text, nothing else')],
    ['SVG', () => Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>')],
    ['SVG with a declaration', () => Buffer.from('<?xml version="1.0"?><svg width="9"/>')],
    ['PDF', () => Buffer.from('%PDF-1.7\n')],
    ['BMP', () => Buffer.from(`BM${'\0'.repeat(60)}`)],
    ['a libvips file', () => Buffer.from([0x08, 0xf2, 0xa6, 0xb6, ...Buffer.alloc(60)])],
    ['HEIC', async () => rebrand(await makePicture({ format: 'avif' }), 'heic')],
    ['an ISO file with a huge first box', () => Buffer.from('\xff\xff\xff\xffftypisom', 'latin1')],
    ['a RIFF file that is sound', () => Buffer.from('RIFF\x24\0\0\0WAVEfmt ')],
    ['a PNG signature, then nothing', () => declarePng(9, 9).subarray(0, 8)],
    ['a PNG header, then nothing', () => declarePng(9, 9).subarray(0, 33)],
    ['a PNG of no width', () => declarePng(0, 9)],
    ['a JPEG of four bytes', () => Buffer.from([0xff, 0xd8, 0xff, 0xe0])],
    ['a GIF of its signature', () => Buffer.from('GIF89a')],
    ['a WebP of its signature', () => Buffer.from('RIFF\x24\0\0\0WEBPVP8 ')],
    ['a TIFF of its signature', () => Buffer.from('II*\0')],
    ['a PNG renamed JPEG inside', async () => Buffer.concat([JPEG_MAGIC, await makePicture()])],
  ]
  for (const [title, bytes] of REJECTED) {
    test(`rejects ${title}`, async () => {
      await assert.rejects(probe(await bytes()), rejected('image_invalid'))
    })
  }

  // libvips goes through all of these for the header alone.
  const PARTS: [title: string, most: number, make: (parts: number) => Buffer | Promise<Buffer>][] =
    [
      ['compressed texts of a PNG', 32, pngOfTexts],
      ['frames of a WebP', 10_000, webpOfFrames],
      ['frames of a WebP, each inside the one before', 10_000, (n) => webpOfFrames(n, true)],
      ['frames of a GIF', 10_000, gifOfFrames],
      ['fields of a page of a TIFF', 256, (fields) => makeTiff({ fields })],
      ['pages of a TIFF', 2000, (pages) => makeTiff({ pages })],
      ['MiB of a TIFF', 63, (mib) => makeTiff({ fields: 10, valueBytes: mib * 2 ** 20 })],
    ]
  for (const [title, most, make] of PARTS) {
    test(`takes ${most} ${title}, and rejects one more`, async () => {
      assert.deepEqual((await probe(await make(most))).width, 1)
      await assert.rejects(probe(await make(most + 1)), rejected('image_invalid', /too many/))
    })
  }

  test('rejects a TIFF whose pages never end', async () => {
    const tiff = makeTiff({ pages: 2, endless: true })
    await assert.rejects(probe(tiff), rejected('image_invalid', /too many/))
  })

  test('lets an error of the disk through', async () => {
    await assert.rejects(probeImage(join(folder, 'missing'), { maxPixels: 1 }), { code: 'ENOENT' })
  })
})

const JPEG_MAGIC = Buffer.from([0xff, 0xd8, 0xff])

const rebrand = (file: Buffer, brand: string): Buffer => {
  for (let at = 8; at < file.readUInt32BE(0); at += 4) file.write(brand, at, 'latin1')
  return file
}

/** A PNG whose header is all there is to it. */
const declarePng = (width: number, height: number): Buffer => {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 2, 0, 0, 0], 8)
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    pngChunk('IHDR', header),
    pngChunk('IDAT', deflateSync(Buffer.alloc(10))),
    pngChunk('IEND', Buffer.alloc(0)),
  ])
}
