import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { crc32 } from 'node:zlib'

import { assert as check, integer, property, string, tuple } from 'fast-check'

import {
  credentialKind,
  makeCredential,
  maskCredential,
  maskCredentials,
} from '../../../src/platform/domain/credential.ts'

const zeros = (size: number) => new Uint8Array(size)
const makeKey = () => makeCredential('api_key', randomBytes)
const makeToken = () => makeCredential('personal_access_token', randomBytes)
const makeTaskToken = () => makeCredential('task_token', randomBytes)

describe('a credential', () => {
  test('has its prefix, 30 random characters and 6 of checksum', () => {
    assert.match(makeKey(), /^kiln_key_[0-9A-Za-z]{36}$/)
    assert.match(makeToken(), /^kiln_pat_[0-9A-Za-z]{36}$/)
    assert.match(makeTaskToken(), /^kiln_task_[0-9A-Za-z]{36}$/)
  })

  test('ends with the CRC-32 of all before it, in base62 padded with 0', () => {
    const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
    for (const key of Array.from({ length: 200 }, makeKey)) {
      const values = Array.from(key.slice(-6), (digit) => digits.indexOf(digit))
      assert.equal(
        values.reduce((sum, value) => sum * 62 + value),
        crc32(key.slice(0, -6)),
      )
    }
  })

  test('is the same for the same random bytes, and never repeats with real ones', () => {
    assert.equal(makeCredential('api_key', zeros), makeCredential('api_key', zeros))
    const keys = Array.from({ length: 1000 }, makeKey)
    assert.equal(new Set(keys).size, 1000)
  })

  test('uses every character equally often', () => {
    const counts = new Map<string, number>()
    for (const key of Array.from({ length: 2000 }, makeKey))
      for (const character of key.slice(9, 39))
        counts.set(character, (counts.get(character) ?? 0) + 1)
    assert.equal(counts.size, 62)
    // 60,000 characters: 968 each, standard deviation 31; eight deviations are never seen by chance.
    for (const count of counts.values()) assert.ok(Math.abs(count - 968) < 250, String(count))
  })

  test('a credential is recognized by its form and checksum', () => {
    const key = makeKey()
    assert.equal(credentialKind(key), 'api_key')
    assert.equal(credentialKind(makeToken()), 'personal_access_token')
    assert.equal(credentialKind(makeTaskToken()), 'task_token')
    const cut = ['', 'kiln_key_', key.slice(1), key.slice(0, -1)]
    const longer = [`${key}0`, ` ${key}`, `${key}\n`]
    const unlike = [key.replace('key', 'pat'), key.toUpperCase(), `kiln_key_${'0'.repeat(36)}`]
    for (const other of [...cut, ...longer, ...unlike])
      assert.equal(credentialKind(other), undefined, other)
  })

  test('with one character changed is none', () => {
    const key = makeKey()
    const change = tuple(
      integer({ min: 0, max: key.length - 1 }),
      string({ minLength: 1, maxLength: 1 }),
    )
    check(
      property(change, ([at, character]) => {
        const changed = key.slice(0, at) + character + key.slice(at + 1)
        return changed === key || credentialKind(changed) === undefined
      }),
      { seed: 7, numRuns: 1000 },
    )
  })

  test('shows its prefix and last four characters when masked', () => {
    assert.equal(maskCredential('api_key', 'aB3x'), 'kiln_key_…aB3x')
    assert.equal(maskCredential('personal_access_token', '0000'), 'kiln_pat_…0000')
  })

  test('is masked wherever it stands in a text, and nothing else is', () => {
    const [key, token, task] = [makeKey(), makeToken(), makeTaskToken()]
    const text = `/nodes/${token}?a=${key}&b=${task}, kiln_pat_short`
    assert.equal(
      maskCredentials(text),
      `/nodes/kiln_pat_…${token.slice(-4)}?a=kiln_key_…${key.slice(-4)}&b=kiln_task_…${task.slice(-4)}, kiln_pat_short`,
    )
  })
})
