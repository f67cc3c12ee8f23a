import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { arithmetic } from '../../../src/interpret/text/number/arithmetic.ts'
import { parseFloatText, parseInteger } from '../../../src/interpret/text/number/parse.ts'
import { roundToInt } from '../../../src/interpret/text/number/round.ts'
import { reprFloat, reprText } from '../../../src/interpret/text/repr.ts'
import { checkTable } from './table.ts'

describe('numbers as CPython has them', () => {
  test('are calculated', () => {
    checkTable('arithmetic', arithmetic)
  })

  test('are rounded half even, by their exact value', () => {
    checkTable('round', roundToInt)
  })

  test('are read from text', () => {
    checkTable('int', parseInteger)
    checkTable('float', parseFloatText)
  })

  test('and texts have their repr', () => {
    checkTable('repr', (value: number | string) =>
      typeof value === 'number' ? reprFloat(value) : reprText(value),
    )
  })
})

describe('laws of numbers', () => {
  const int = fc.bigInt(-(10n ** 30n), 10n ** 30n)

  test('quotient and rest of ints make the dividend, and the rest has the sign of the divisor', () => {
    fc.assert(
      fc.property(int, int, (a, b) => {
        fc.pre(b !== 0n)
        const [quotient, rest] = [arithmetic('//', a, b), arithmetic('%', a, b)] as [bigint, bigint]
        assert.equal(quotient * b + rest, a)
        assert.ok(rest === 0n || rest < 0n === b < 0n, `${rest} has the sign of ${b}`)
      }),
    )
  })

  test('the repr of a float reads back as the same float', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true }), (value) => {
        assert.ok(Object.is(parseFloatText(reprFloat(value)), value), reprFloat(value))
      }),
    )
  })
})

describe('the caps of numbers', () => {
  test('make powers, shifts and long ints unknown', () => {
    assert.equal(arithmetic('**', 9n, 387_420_489n), undefined)
    assert.equal(arithmetic('**', 1_000_000n, 2n), undefined)
    assert.equal(arithmetic('**', 2n, 255n), 2n ** 255n)
    assert.equal(arithmetic('<<', 1n, 256n), undefined)
    assert.equal(arithmetic('<<', 1n, 64n), 1n << 64n)
    const long = 1n << 20_000n
    assert.equal(arithmetic('*', long, long), undefined)
    assert.equal(parseInteger('9'.repeat(4301)), undefined)
    assert.equal(arithmetic('>>', 5n, 10n ** 30n), 0n)
    assert.equal(parseFloatText(`${'1'.repeat(1_000_000)}x`), undefined)
  })
})
