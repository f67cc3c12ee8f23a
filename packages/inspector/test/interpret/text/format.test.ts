import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { formatFloat, formatInt } from '../../../src/interpret/text/format/format-number.ts'
import { formatText } from '../../../src/interpret/text/format/align.ts'
import { formatPercent, type PercentSource } from '../../../src/interpret/text/format/percent.ts'
import { formatTemplate, type TemplateSource } from '../../../src/interpret/text/format/template.ts'
import { reprFloat, reprText } from '../../../src/interpret/text/repr.ts'
import { checkTable } from './table.ts'

/** A str, float, int or bool, or a container of them. */
type Value = string | number | bigint | boolean | Value[] | Map<string, Value>

const format = (value: Value, spec: string): string | undefined => {
  if (typeof value === 'string') return formatText(value, spec)
  if (typeof value === 'number') return formatFloat(value, spec)
  if (typeof value === 'boolean') return spec === '' ? str(value) : formatInt(BigInt(value), spec)
  return typeof value === 'bigint' ? formatInt(value, spec) : undefined
}

const str = (value: Value): string => {
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  return typeof value === 'number' ? reprFloat(value) : `${value as bigint | string}`
}

const convert = (value: Value, how: 's' | 'r' | 'a'): string | undefined => {
  if (typeof value !== 'string' || how === 's') return str(value)
  return how === 'r' ? reprText(value) : undefined
}

const percentSource = (values: Value[], byKey = new Map<string, Value>()): PercentSource<Value> => {
  let used = 0
  return {
    next: () => values[used++],
    byKey: (key) => byKey.get(key),
    isUsedUp: () => used >= values.length,
    text: convert,
    number: (value) => (typeof value === 'bigint' || typeof value === 'number' ? value : undefined),
  }
}

const templateSource = (args: Value[], kwargs: Map<string, Value>): TemplateSource<Value> => ({
  positional: (index) => args[index],
  named: (name) => kwargs.get(name),
  convert,
  format,
})

describe('formatting as CPython does it', () => {
  test('follows every part of a specification', () => {
    checkTable('format', format)
  })

  test('by % follows flags, width, precision and type', () => {
    checkTable('percent', (template: string, values: Value[]) =>
      formatPercent(template, percentSource(values)),
    )
  })

  test('by % takes values of a mapping by their keys', () => {
    const source = percentSource([], new Map([['name', 'Kiln']]))
    assert.equal(formatPercent('%(name)s %(name)5.2s!', source), 'Kiln    Ki!')
    assert.equal(formatPercent('%(other)s', source), undefined)
  })

  test('by templates finds fields and conversions', () => {
    checkTable('template', (template: string, args: Value[], kwargs: Map<string, Value>) =>
      formatTemplate(template, templateSource(args, kwargs)),
    )
    assert.equal(formatTemplate('{0.size}', templateSource(['four'], new Map())), undefined)
  })

  test('has a cap of one mebibyte', () => {
    assert.equal(formatInt(1n, '2000000'), undefined)
    assert.equal(formatFloat(1, '.2000000f'), undefined)
    assert.equal(formatText('a', '>2000000'), undefined)
    assert.equal(formatPercent('%2000000d', percentSource([1n])), undefined)
    const half = 'x'.repeat(600_000)
    assert.equal(formatPercent('%s%s', percentSource([half, half])), undefined)
    assert.equal(formatTemplate('{0}{0}', templateSource([half], new Map())), undefined)
  })
})

describe('hostile formats', () => {
  test('are read in one pass', () => {
    assert.equal(
      formatTemplate(`{${'['.repeat(1_000_000)}`, templateSource([], new Map())),
      undefined,
    )
    assert.equal(formatTemplate('{'.repeat(1_000_001), templateSource([], new Map())), undefined)
    assert.equal(formatPercent('%('.repeat(500_000), percentSource([])), undefined)
  })
})
