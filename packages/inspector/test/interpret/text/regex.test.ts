import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { compileRegex } from '../../../src/interpret/text/regex/read-pattern.ts'
import {
  groupText,
  matchAllRegex,
  matchRegex,
  splitRegex,
  substitute,
} from '../../../src/interpret/text/regex/regex.ts'
import type { RegexMatch } from '../../../src/interpret/text/regex/regex.ts'
import {
  escapePattern,
  expandReplacement,
  readReplacement,
} from '../../../src/interpret/text/regex/replacement.ts'
import { checkTable } from './table.ts'

const spanOf = (match: RegexMatch) => match.spans[0]?.map(BigInt)

describe('regular expressions as CPython has them', () => {
  test('match, search and fullmatch find the same spans and groups', () => {
    checkTable('regex', (pattern: string, text: string) => {
      const regex = compileRegex(pattern)
      if (regex === undefined) return undefined
      return (['search', 'match', 'fullmatch'] as const).map((how) => {
        const match = matchRegex(regex, text, how)
        if (!match) return match
        const groups = match.spans.slice(1).map((_, at) => groupText(match, at + 1) ?? null)
        return [spanOf(match), groups]
      })
    })
  })

  test('finditer gives every match, empty ones beside others too', () => {
    checkTable('regexall', (pattern: string, text: string) => {
      const regex = compileRegex(pattern)
      return regex && matchAllRegex(regex, text)?.map(spanOf)
    })
  })

  test('split keeps the groups', () => {
    checkTable('regexsplit', (pattern: string, text: string, limit: bigint) => {
      const regex = compileRegex(pattern)
      return regex && splitRegex(regex, text, { limit: Number(limit) })?.map((part) => part ?? null)
    })
  })

  test('sub expands its replacement', () => {
    checkTable('regexsub', (pattern: string, text: string, by: string, count: bigint) => {
      const regex = compileRegex(pattern)
      const replacement = regex && readReplacement(by, regex)
      if (replacement === undefined || regex === undefined) return undefined
      const expand = (match: RegexMatch) => expandReplacement(replacement, match)
      return substitute(regex, text, expand, { limit: Number(count) })
    })
  })
})

describe('limits of regular expressions', () => {
  test('reject long patterns and texts, and repeats in repeats', () => {
    assert.equal(compileRegex('a'.repeat(201)), undefined)
    assert.equal(compileRegex('(a+)+b'), undefined)
    assert.equal(compileRegex('(?:(?:a|b*)c)*'), undefined)
    assert.equal(compileRegex('(?L)a'), undefined)
    const regex = getRegex('a')
    assert.equal(matchRegex(regex, 'b'.repeat(5001), 'search'), undefined)
    assert.equal(matchRegex(regex, '🏺'.repeat(5000), 'search'), null)
  })

  test('end a match that goes back too often', () => {
    const regex = getRegex('(.*)(.*)(.*)(.*)(.*)x')
    assert.equal(matchRegex(regex, 'a'.repeat(5000), 'search'), undefined)
    const alternatives = getRegex('(?:a|a|aa)*b')
    assert.equal(matchRegex(alternatives, 'a'.repeat(200), 'search'), undefined)
  })

  test('hold for all matches of one call together', () => {
    const slow = getRegex('a(?=.*.*x)|b')
    assert.equal(matchAllRegex(slow, 'ab'.repeat(2000)), undefined)
  })

  test('end a group repeated thousands of times', () => {
    assert.equal(matchRegex(getRegex('(?:ab)*'), 'ab'.repeat(2500), 'match'), undefined)
    assert.notEqual(matchRegex(getRegex('(?:ab)*'), 'ab'.repeat(500), 'match'), undefined)
  })

  test('leave every linear pattern its full text', () => {
    const text = 'word '.repeat(999)
    assert.equal(matchAllRegex(getRegex(String.raw`\w+`), text)?.length, 999)
    assert.equal(matchRegex(getRegex('.*z'), 'a'.repeat(5000), 'match'), null)
  })
})

describe('regular expressions', () => {
  test('take flags as numbers', () => {
    assert.deepEqual(matchRegex(compileRegex('A.B', 2 | 16) ?? never(), 'a\nb', 'match')?.spans, [
      [0, 3],
    ])
  })

  test('find names and numbers of groups', () => {
    const regex = getRegex('(?P<year>\\d+)-(x)?')
    assert.deepEqual([...regex.groupNames], [['year', 1]])
    assert.equal(regex.groupCount, 2)
  })

  test('match an escaped text by itself', () => {
    const text = 'a.b*c[d]\\e-🏺 f'
    const match = matchRegex(getRegex(escapePattern(text)), text, 'fullmatch')
    assert.deepEqual(match?.spans, [[0, 14]])
  })
})

const never = (): never => assert.fail('the pattern is rejected')
const getRegex = (pattern: string) => compileRegex(pattern) ?? never()
