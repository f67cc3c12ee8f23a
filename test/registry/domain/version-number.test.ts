import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { describe, test } from 'node:test'

import fc from 'fast-check'

import { nearestVersion, parseVersionNumber } from '../../../src/registry/domain/version-number.ts'
import type { VersionNumber } from '../../../src/registry/domain/version-number.ts'

/** The independent reading of the same standard. */
const semver = createRequire(import.meta.url)('semver') as {
  compare(a: string, b: string): number
  valid(text: string): string | null
}

const parse = (text: string): VersionNumber => {
  const number = parseVersionNumber(text)
  assert.ok(number, `${text} is a version`)
  return number
}

/** The order of the columns, the last by its bytes (`collate "C"`). */
const compareColumns = (a: VersionNumber, b: VersionNumber): number =>
  a.major - b.major ||
  a.minor - b.minor ||
  a.patch - b.patch ||
  Buffer.compare(Buffer.from(a.pre_key), Buffer.from(b.pre_key))

const BIGGEST = '9007199254740991'

const number = fc.oneof(fc.nat({ max: 12 }), fc.nat(), fc.maxSafeNat()).map(String)
const word = fc.stringMatching(/^[0-9a-zA-Z-]{0,4}[a-zA-Z-][0-9a-zA-Z-]{0,4}$/)
const known = fc.constantFrom('alpha', 'beta', 'rc', '-', 'a', 'A', '1a', '0a')
const identifiers = fc
  .array(fc.oneof(number, word, known), { minLength: 1, maxLength: 4 })
  .map((list) => list.join('.'))
const tail = (mark: string) =>
  fc.option(identifiers, { nil: undefined }).map((text) => (text === undefined ? '' : mark + text))
const core = fc.tuple(number, number, number).map((list) => list.join('.'))
/** Few different numbers, so that pre-releases of one release meet. */
const near = fc.constantFrom('1.0.0', '1.0.0', '1.9.0', '1.10.0')
const version = fc.tuple(fc.oneof(core, near), tail('-'), tail('+')).map((parts) => parts.join(''))

describe('a version', () => {
  const VALID: [text: string, canonical: string][] = [
    ['1.0.0', '1.0.0'],
    ['0.0.0', '0.0.0'],
    ['1.0.0+a', '1.0.0'],
    ['1.0.0+b.001', '1.0.0'],
    ['1.2.3-rc.1+5', '1.2.3-rc.1'],
    ['1.2.3--', '1.2.3--'],
    ['1.2.3-0a', '1.2.3-0a'],
    [`${BIGGEST}.0.1-${BIGGEST}`, `${BIGGEST}.0.1-${BIGGEST}`],
    [`1.0.0-${'a'.repeat(250)}`, `1.0.0-${'a'.repeat(250)}`],
  ]
  for (const [text, canonical] of VALID)
    test(`${text.slice(0, 40)} is unique as ${canonical.slice(0, 40)}`, () =>
      assert.equal(parseVersionNumber(text)?.canonical, canonical))

  /** Numbers that real packs write. */
  const LOOSE: [text: string, version: string][] = [
    ['1', '1.0.0'],
    ['7.8', '7.8.0'],
    ['v1.0.0', '1.0.0'],
    ['V1.0', '1.0.0'],
    ['=v1.0.0', '1.0.0'],
    [' 1.0.0\n', '1.0.0'],
    ['v 1.0.0', '1.0.0'],
    ['01.2.3', '1.2.3'],
    ['00.0.00', '0.0.0'],
    ['2024.01.05', '2024.1.5'],
    ['1.2-beta.01+x.01', '1.2.0-beta.1+x.01'],
    [`1.0-${'a'.repeat(250)}`, `1.0.0-${'a'.repeat(250)}`],
  ]
  for (const [text, version] of LOOSE)
    test(`${JSON.stringify(text.slice(0, 20))} means ${version.slice(0, 20)}`, () =>
      assert.deepEqual(parseVersionNumber(text), parse(version)))

  const INVALID = [
    ...'| |v|-1.0.0|1.2.3.4|1.2.|1. 2|1 2.0|1.0rc1|1.0.post1|x|1.0.0-|1.0.0-a..b|1.0.0+'.split('|'),
    ...'1.0.0-a_b|1.0.0-ä|١.0.0|9007199254740992|1.0.0-9007199254740992'.split('|'),
    `1.0.0-${'a'.repeat(251)}`,
    `1-${'a'.repeat(253)}`,
    '1'.repeat(1_000_000),
  ]
  for (const text of INVALID)
    test(`${JSON.stringify(text.slice(0, 40))} is none`, () =>
      assert.equal(parseVersionNumber(text), undefined))

  test('is what semver takes for one too, and has its canonical form', () => {
    fc.assert(
      fc.property(version, (text) => {
        assert.equal(parse(text).canonical, semver.valid(text))
        assert.equal(parse(text).version, text)
      }),
    )
  })

  test('has one strict form, however loosely it is written', () => {
    const loose = fc.oneof(
      fc.string(),
      fc.stringMatching(
        /^[ v=]{0,3}[0-9.]{1,12}(-[0-9a-zA-Z.-]{0,6})?(\+[0-9a-zA-Z.-]{0,6})?[ \n]?$/,
      ),
    )
    fc.assert(
      fc.property(loose, (text) => {
        const number = parseVersionNumber(text)
        if (number) assert.deepEqual(parse(number.version), number)
        if (number) assert.equal(semver.valid(number.version), number.canonical)
      }),
      { numRuns: 1_000 },
    )
  })

  test('has one canonical form, which is its own', () => {
    fc.assert(
      fc.property(version, version, (a, b) => {
        const [one, other] = [parse(a), parse(b)]
        assert.equal(parse(one.canonical).canonical, one.canonical)
        assert.equal(compareColumns(one, other) === 0, one.canonical === other.canonical)
      }),
    )
  })
})

describe('the order of versions', () => {
  const PRE_RELEASES = '0 2 10 alpha alpha.1 alpha.beta alpha-x beta beta.2 beta.11 rc.1'.split(' ')
  const ASCENDING = [
    ...PRE_RELEASES.map((pre) => `1.0.0-${pre}`),
    ...'1.0.0 1.9.0 1.10.0 2.0.0-zzz 2.0.0 10.0.0'.split(' '),
  ]
  for (const [at, text] of ASCENDING.slice(1).entries())
    test(`${ASCENDING[at]} is lower than ${text}`, () => {
      assert.ok(compareColumns(parse(ASCENDING[at] ?? ''), parse(text)) < 0, 'ascending')
    })

  const KEYS: [string, string][] = [
    ['1.0.0', '~'],
    ['1.0.0+b-a', '~'],
    ['1.0.0-alpha', '1alpha '],
    ['1.0.0-alpha.1', '1alpha 00011 '],
    ['1.0.0-beta.11', '1beta 000211 '],
  ]
  for (const [text, key] of KEYS)
    test(`${text} has the key ${JSON.stringify(key)}`, () => assert.equal(parse(text).pre_key, key))

  test('is that of semver', () => {
    fc.assert(
      fc.property(version, version, (a, b) => {
        const order = Math.sign(compareColumns(parse(a), parse(b)))
        assert.equal(order, semver.compare(a, b))
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('the version nearest to a text that means none', () => {
  for (const [text, near] of [
    ['1.0.9.1', '1.0.9'],
    ['v2.1rc1', '2.1.0-rc.1'],
    ['1.0.0.dev3', '1.0.0-dev.3'],
    ['1.2b', '1.2.0-b'],
    ['1.2.build', '1.2.0'],
    ['1.0.post1', '1.0.0'],
    ['latest', undefined],
    ['', undefined],
  ] as const)
    test(`is ${near} for ${JSON.stringify(text)}`, () => assert.equal(nearestVersion(text), near))
})
