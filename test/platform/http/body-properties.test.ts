import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import * as fc from 'fast-check'

import {
  readJsonBody,
  type ReadJsonBodyOptions,
} from '../../../src/platform/json-body/read-json-body.ts'
import { ApiError } from '../../../src/platform/domain/errors.ts'
import { cut, makeOptions, makeRequest, makeScratch } from './body-support.ts'

const text = fc
  .string({
    unit: fc.oneof(
      fc.constantFrom(...'ab"\\/\n\u00e9€😀\u2028'),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
    ),
  })
  .filter((value) => !value.includes('\0'))
const key = text.filter((value) => value !== '__proto__')
const { value: json } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom(null, true, false),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.integer(),
    text,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(key, tie('value'), { maxKeys: 4 }),
  ),
}))
const document = fc.dictionary(key, json, { maxKeys: 5 })
const places = fc.array(fc.nat(5000), { maxLength: 10 })

/** The same text in other words: blanks between the tokens, strings in escapes. */
const respell = (source: string, escaped: boolean): string =>
  source.replaceAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]/g, (token) => {
    if (!token.startsWith('"')) return ` ${token}\n`
    if (!escaped) return token
    const units = Array.from({ length: (JSON.parse(token) as string).length }, (_, index) =>
      (JSON.parse(token) as string).charCodeAt(index).toString(16).padStart(4, '0'),
    )
    return `"${units.map((unit) => `\\u${unit}`).join('')}"`
  })

type Outcome = { value: unknown } | { code: string }

const outcome = async (pieces: Buffer[], options: ReadJsonBodyOptions): Promise<Outcome> => {
  try {
    return { value: (await readJsonBody(makeRequest(pieces), options)).value }
  } catch (error) {
    if (error instanceof ApiError) return { code: error.code }
    throw error
  }
}

const parse = (bytes: Buffer): Outcome => {
  try {
    return {
      value: JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)),
    }
  } catch {
    return { code: 'json_invalid' }
  }
}

describe('agreement with JSON.parse', () => {
  test('a valid document gives the same value, in any spelling and cut anywhere', async (t) => {
    const options = makeOptions(await makeScratch(t))
    await fc.assert(
      fc.asyncProperty(
        document,
        places,
        fc.boolean(),
        fc.boolean(),
        async (value, at, spell, escaped) => {
          const source = JSON.stringify(value)
          const body = spell ? respell(source, escaped) : source
          const expected: unknown = JSON.parse(body)
          assert.deepEqual(await outcome(cut(Buffer.from(body), at), options), { value: expected })
        },
      ),
      { seed: 3, numRuns: 300 },
    )
  })

  test('a damaged document is rejected when JSON.parse rejects it, and the same however it is cut', async (t) => {
    const options = makeOptions(await makeScratch(t))
    const damage = fc.array(fc.tuple(fc.nat(5000), fc.integer({ min: -1, max: 255 })), {
      minLength: 1,
      maxLength: 3,
    })
    await fc.assert(
      fc.asyncProperty(document, damage, places, async (value, issues, at) => {
        const bytes = Buffer.from(JSON.stringify(value))
        const damaged = issues.reduce<Buffer>(
          (body, [place, byte]) => damageAt(body, place, byte),
          bytes,
        )
        const whole = await outcome([damaged], options)
        assert.deepEqual(await outcome(cut(damaged, at), options), whole)
        if ('value' in whole) assert.deepEqual(whole, parse(damaged))
        else if (!isStricter(damaged)) assert.deepEqual(parse(damaged), { code: 'json_invalid' })
      }),
      { seed: 4, numRuns: 500 },
    )
  })
})

const damageAt = (body: Buffer, place: number, byte: number): Buffer => {
  const at = place % (body.length + 1)
  const middle = byte === -1 ? [] : [byte]
  return Buffer.concat([body.subarray(0, at), Buffer.from(middle), body.subarray(at + (place % 2))])
}

/** True when JSON.parse takes a text that this reader is right to reject. */
const isStricter = (bytes: Buffer): boolean => {
  const parsed = parse(bytes)
  if (!('value' in parsed)) return false
  if (typeof parsed.value !== 'object' || parsed.value === null || Array.isArray(parsed.value)) {
    return true
  }
  const source = bytes.toString()
  // Written out again, a document with a repeated key has fewer of them.
  return (
    holdsInfinity(parsed.value) ||
    countKeys(JSON.stringify(parsed.value)) < countKeys(source) ||
    /\\u0000|\\ud[89a-f]/i.test(source)
  )
}

const holdsInfinity = (value: unknown): boolean =>
  typeof value === 'object' && value !== null
    ? Object.values(value).some(holdsInfinity)
    : typeof value === 'number' && !Number.isFinite(value)

const countKeys = (source: string): number => source.match(/"(?:[^"\\]|\\.)*"\s*:/g)?.length ?? 0
