import assert from 'node:assert/strict'
import { test } from 'node:test'

import { mediaTypeOf } from '../../../src/platform/domain/media-type.ts'
import { makePicture } from '../../support/pictures.ts'

test('the first bytes of an image show its type', async () => {
  for (const format of ['jpeg', 'png', 'webp', 'avif', 'tiff', 'gif'] as const)
    assert.equal(mediaTypeOf(await makePicture({ format })), `image/${format}`)
})

const box = (brand: string) => Buffer.from(`\0\0\0\u0020ftyp${brand}\0\0\u0002\0isomiso2`, 'latin1')

test('the first bytes of a video show its type', () => {
  for (const brand of ['isom', 'iso6', 'mp42', 'avc1', 'M4V '])
    assert.equal(mediaTypeOf(box(brand)), 'video/mp4', brand)
  assert.equal(mediaTypeOf(box('qt  ')), 'video/quicktime')
  assert.equal(
    mediaTypeOf(Buffer.from('1a45dfa39f4286810142f7810142f2810442f381084282847765626d', 'hex')),
    'video/webm',
  )
})

test('whatever a browser could run, and everything unknown, is a stream of octets', () => {
  const others = '|<html>|<svg xmlns=|%PDF-1.7|PK\u0003\u0004|GIF88a|\0\0\0\u0018ftypheic'
  for (const text of others.split('|'))
    assert.equal(mediaTypeOf(Buffer.from(text, 'latin1')), 'application/octet-stream', text)
})
