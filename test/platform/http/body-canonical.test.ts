import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import {
  canonicalBody,
  canonicalJson,
  fingerprintOf,
  fingerprintsOf,
} from '../../../src/platform/json-body/fingerprint.ts'
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

describe('fingerprints', () => {
  const nameLink = (text: string) => (text.startsWith('link:') ? text.split('?')[0] : undefined)
  const of = (value: unknown) => fingerprintsOf('', { value, inline: [] }, nameLink)

  test('count links of this service by their file, in members and lists at every depth', () => {
    const wrap = (link: string) => [
      { image: link },
      { images: ['a', link] },
      { requests: [{ body: { parts: [link] } }] },
    ]
    const [first, again] = [wrap('link:a?1'), wrap('link:a?2')]
    for (const [at, body] of first.entries()) {
      assert.equal(of(body)[0], of(again[at])[0])
      assert.equal(of(body)[1], fingerprintOf('', canonicalJson(body)))
    }
    assert.notEqual(of({ image: 'link:a?1' })[0], of({ image: 'link:b?1' })[0])
  })

  test('count any other text as it is written', () => {
    const body = { image: 'https://example.com/a.png?1' }
    assert.deepEqual(of(body), [fingerprintOf('', canonicalJson(body))])
    assert.notEqual(of(body)[0], of({ image: 'https://example.com/a.png?2' })[0])
  })
})
