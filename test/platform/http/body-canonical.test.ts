import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { canonicalBody, canonicalJson } from '../../../src/platform/json-body/fingerprint.ts'
import { makePicture } from '../../support/pictures.ts'
import { makeOptions, makeScratch, read } from './body-support.ts'

describe('canonical JSON', () => {
  test('sorts members at every depth and keeps the order of items', () => {
    assert.equal(
      canonicalJson({ b: [{ d: 1, c: 'é' }, 2], a: null, 10: 1, 9: 1.0 }),
      '{"10":1,"9":1,"a":null,"b":[{"c":"é","d":1},2]}',
    )
  })

  test('is the same for one body in two spellings and differs with the image', async (t) => {
    const options = makeOptions(await makeScratch(t))
    const [one, other] = [await makePicture(), await makePicture({ shade: 9 })]
    const canonical = async (text: string) => {
      const { value, inline, discard } = await read(text, options)
      await discard()
      return canonicalBody(value, inline)
    }
    const first = await canonical(`{"image":"${one.toString('base64')}","prompt":"p"}`)
    const data = `data:image/png;base64,${one.toString('base64url')}`
    assert.equal(await canonical(`{ "prompt":"\\u0070", "image":"${data}" }`), first)
    assert.notEqual(await canonical(`{"image":"${other.toString('base64')}","prompt":"p"}`), first)
    assert.notEqual(await canonical(`{"image":"${one.toString('base64')}"}`), first)
  })
})
