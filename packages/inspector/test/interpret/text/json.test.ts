import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { readJson, type JsonAtom, type JsonBuilder } from '../../../src/interpret/text/json/read.ts'
import { writeJsonFloat, writeJsonText } from '../../../src/interpret/text/json/write.ts'
import { checkTable } from './table.ts'

type JsonTree = JsonAtom | JsonTree[] | Map<string, JsonTree>

// Of equal keys the last value stands, in the place of the first, as in a Python dict.
const JSON_TREE: JsonBuilder<JsonTree> = {
  atom: (value) => value,
  list: (items) => items,
  object: (entries) => new Map(entries),
}

const read = (text: string): JsonTree | undefined => readJson(text, JSON_TREE)

describe('JSON as Python has it', () => {
  test('is read', () => {
    checkTable('json', read)
  })

  test('is written', () => {
    checkTable('jsontext', writeJsonText)
    checkTable('jsonfloat', writeJsonFloat)
  })

  test('of any value is read back', () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
        assert.equal(writeAgain(read(JSON.stringify(value, null, 2))), JSON.stringify(value))
      }),
    )
  })

  test('keeps keys that are special in JavaScript, in their order', () => {
    const tree = read('{"2": 1, "__proto__": 2, "1": 3, "2": 4}') as Map<string, JsonTree>
    assert.deepEqual(
      [...tree],
      [
        ['2', 4n],
        ['__proto__', 2n],
        ['1', 3n],
      ],
    )
  })

  test('is unknown when it is nested too deeply, at no cost of stack', () => {
    assert.equal(read('['.repeat(1_000_000)), undefined)
    assert.equal(read('{"a":'.repeat(100_000)), undefined)
    assert.notEqual(read('['.repeat(900) + ']'.repeat(900)), undefined)
  })

  test('reads a long text in one pass', () => {
    const long = `"${'x\\n'.repeat(1_000_000)}"`
    assert.equal((read(long) as string).length, 2_000_000)
  })
})

const writeAgain = (tree: JsonTree | undefined): string => {
  if (tree instanceof Map) {
    const entries = [...tree].map(([key, value]) => `${JSON.stringify(key)}:${writeAgain(value)}`)
    return `{${entries.join(',')}}`
  }
  if (Array.isArray(tree)) return `[${tree.map(writeAgain).join(',')}]`
  return typeof tree === 'bigint' ? String(tree) : JSON.stringify(tree)
}
