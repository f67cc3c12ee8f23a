import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'

import { isInlineMarker, replaceInline } from '../../../src/platform/json-body/inline.ts'
import { readJsonBody } from '../../../src/platform/json-body/read-json-body.ts'
import { makePicture } from '../../support/pictures.ts'
import {
  cut,
  isEmpty,
  makeOptions,
  makeRequest,
  makeScratch,
  read,
  rejectedWith,
} from './body-support.ts'

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

/** A valid header and enough noise behind it to fill several write buffers. */
const enlarge = (picture: Buffer, bytes: number) =>
  Buffer.concat([picture, Buffer.alloc(bytes - picture.length, 0xa5)])

describe('inline images', () => {
  let png: Buffer
  let jpeg: Buffer
  before(async () => {
    png = await makePicture({ width: 40, height: 30 })
    jpeg = await makePicture({ width: 8, height: 9, format: 'jpeg' })
  })

  test('are decoded into files, and markers stand in their places', async (t) => {
    const scratch = await makeScratch(t)
    const body = {
      prompt: 'p',
      images: [jpeg.toString('base64'), 'https://example.com/a.png'],
      image: png.toString('base64'),
      other: png.toString('base64'),
    }
    const { value, inline, discard } = await read(JSON.stringify(body), makeOptions(scratch))

    assert.ok(isInlineMarker(value['image']))
    assert.deepEqual(
      replaceInline(value, inline, (image, index) => `${index} ${image.pointer}`),
      { ...body, images: ['0 /images/0', 'https://example.com/a.png'], image: '1 /image' },
    )
    const second = inline[1]
    assert.ok(second)
    assert.deepEqual(await readFile(second.path), png)
    assert.deepEqual(
      { ...second, path: '' },
      {
        pointer: '/image',
        path: '',
        bytes: png.length,
        sha256: sha256(png),
        image: {
          format: 'png',
          extension: 'png',
          contentType: 'image/png',
          width: 40,
          height: 30,
          hasAlpha: false,
          frames: 1,
          isPlain: true,
        },
      },
    )
    await discard()
    assert.ok(await isEmpty(scratch))
  })

  test('are the same in every spelling', async (t) => {
    const base64 = png.toString('base64')
    const spellings = [
      base64,
      base64.replace(/=+$/, ''),
      png.toString('base64url'),
      base64.replaceAll('/', '\\/'),
      base64.replaceAll('+', '\\u002b'),
      base64.replaceAll(/.{76}/g, '$&\\r\\n'),
      `data:image/png;base64,${base64}`,
      `data:;base64,${base64}`,
      `DATA:text/plain;charset=utf-8;BASE64,${png.toString('base64url')}`,
      `data:image\\/png;base64,${base64}`,
    ]
    const options = makeOptions(await makeScratch(t))
    for (const spelling of spellings) {
      const { inline, discard } = await read(`{"image":"${spelling}"}`, options)
      assert.deepEqual(
        inline.map((image) => [image.sha256, image.issue]),
        [[sha256(png), undefined]],
        spelling.slice(0, 40),
      )
      await discard()
    }
  })

  test('arrive whole when they fill many buffers and come in odd pieces', async (t) => {
    const image = enlarge(png, 1_500_001)
    const bytes = Buffer.from(`{"image":"${image.toString('base64')}","prompt":"p"}`)
    const places = Array.from({ length: 60 }, (_, index) => index * 33_331 + 7)
    const options = makeOptions(await makeScratch(t), { maxImageBytes: 2e6, maxBytes: 3e6 })
    const { inline } = await readJsonBody(makeRequest(cut(bytes, places)), options)
    assert.equal(inline[0]?.sha256, sha256(image))
    assert.ok(image.equals(await readFile(inline[0].path)))
  })

  test('stay values when they are no string, and a marker cannot be sent', async (t) => {
    const body = { image: { inline: 0 }, images: [5, null, '', { image: 'QUJD' }] }
    const { value, inline } = await read(JSON.stringify(body), makeOptions(await makeScratch(t)))
    assert.deepEqual(value, body)
    assert.deepEqual(inline, [])
  })

  const ERRORS: [title: string, text: () => string, message: RegExp][] = [
    ['the path of a file', () => 'photos/a.png', /"\." may not stand there: send the bytes/],
    ['a foreign character', () => `${png.toString('base64')}!`, /"!" may not stand there/],
    ['wrong padding', () => `${jpeg.toString('base64').replace(/=*$/, '')}===`, /padding/],
    ['one character too many', () => 'QUJDR', /one character over \(character 5\)/],
    ['raw data', () => 'data:image/png,raw', /does not say ";base64"/],
    ['text', () => Buffer.from('plain text').toString('base64'), /is not a JPEG/],
    ['HTML', () => `data:text/html;base64,${btoa('<html></html>')}`, /is not a JPEG/],
    ['SVG', () => btoa('<svg xmlns="http://www.w3.org/2000/svg"/>'), /is not a JPEG/],
    ['an empty file', () => 'data:image/png;base64,', /is empty/],
    ['blanks', () => '   ', /is empty/],
    ['a PNG of a header only', () => png.subarray(0, 20).toString('base64'), /header .* broken/],
  ]
  for (const [title, text, message] of ERRORS) {
    test(`are faulty for ${title}, and the body is read on`, async (t) => {
      const body = { image: text(), prompt: 'p' }
      const { value, inline } = await read(JSON.stringify(body), makeOptions(await makeScratch(t)))
      assert.equal(value['prompt'], 'p')
      assert.equal(inline[0]?.image, undefined)
      assert.equal(inline[0]?.issue?.code, 'image_invalid')
      assert.match(inline[0].issue.message, message)
      assert.match(inline[0].issue.message, /^\/image\b/)
      assert.doesNotMatch(inline[0].issue.message, /part|tmp/)
    })
  }

  test('inline images report all their issues at once', async (t) => {
    const body = JSON.stringify({ images: ['!', png.toString('base64'), 'QUJD'], image: 'Q' })
    const options = makeOptions(await makeScratch(t), { maxPixels: 100 })
    const { inline } = await read(body, options)
    assert.deepEqual(
      inline.map(({ pointer, issue }) => [pointer, issue?.code]),
      [
        ['/images/0', 'image_invalid'],
        ['/images/1', 'pixel_limit'],
        ['/images/2', 'image_invalid'],
        ['/image', 'image_invalid'],
      ],
    )
  })

  test('over the byte limit end the request, and no file is left', async (t) => {
    const scratch = await makeScratch(t)
    const body = JSON.stringify({ image: enlarge(png, 300_001).toString('base64') })
    const options = makeOptions(scratch, { maxImageBytes: 300_000 })
    await assert.rejects(read(body, options), rejectedWith('body_too_large', /\/image .*300000/))
    assert.ok(await isEmpty(scratch))
    await read(body, makeOptions(scratch, { maxImageBytes: 300_001 }))
  })

  test('leave no file when the body behind them is not valid', async (t) => {
    const scratch = await makeScratch(t)
    const image = enlarge(png, 400_000).toString('base64')
    const options = makeOptions(scratch, { maxImageBytes: 500_000 })
    await assert.rejects(read(`{"image":"${image}",}`, options), rejectedWith('json_invalid'))
    await assert.rejects(
      read(`{"image":"${image}","image":"x"}`, options),
      rejectedWith('json_invalid', /repeated/),
    )
    assert.ok(await isEmpty(scratch))
  })

  test('are at most as many as the route allows', async (t) => {
    const scratch = await makeScratch(t)
    const image = png.toString('base64')
    const body = JSON.stringify({ images: [image, image, image, image, image] })
    const options = makeOptions(scratch, { maxImages: 2 })
    const { value, inline, discard } = await read(body, options)
    assert.equal((await readdir(scratch)).length, 2)
    // What comes beyond is dropped; the first of it says so, and stands for the others.
    assert.deepEqual(
      inline.map(({ pointer, bytes, issue }) => [pointer, bytes, issue?.code]),
      [
        ['/images/0', png.length, undefined],
        ['/images/1', png.length, undefined],
        ['/images/2', 0, 'image_invalid'],
      ],
    )
    assert.deepEqual(
      replaceInline(value, inline, (_, index) => index),
      { images: [0, 1, 2, 2, 2] },
    )
    await discard()
    assert.ok(await isEmpty(scratch), 'a file is left')
  })

  test('end in 503 when the folder cannot be written', async (t) => {
    const options = makeOptions(join(await makeScratch(t), 'missing'))
    await assert.rejects(read('{"image":"QUJD"}', options), rejectedWith('unavailable'))
  })

  test('do not count as held text', async (t) => {
    const image = enlarge(png, 150_000).toString('base64')
    const options = makeOptions(await makeScratch(t), { memoryBytes: 100 })
    await read(`{"prompt":"${'p'.repeat(80)}","image":"${image}"}`, options)
    await assert.rejects(
      read(`{"prompt":"${randomBytes(60).toString('hex')}"}`, options),
      rejectedWith('body_too_large', /inline images apart/),
    )
    await assert.rejects(
      read(`{"image":"https://example.com/${'a'.repeat(100)}"}`, options),
      rejectedWith('body_too_large'),
    )
  })
})
