import assert from 'node:assert/strict'
import { readJsonLines } from '../../../../../test/support/json-lines.ts'

/**
 * A table of what CPython 3.12 gave: a row a line: arguments, and last `{is: value}` or `{raises: true}`. Ints are
 * `{int: digits}`, floats `{float: repr}`, bytes `{bytes: [...]}`, dicts `{dict: [[key, value], ...]}`; tuples are arrays.
 * These are those of 5,287 generated calls that differ in a branch taken or a kind of argument or result, two of each;
 * those that alone notice a mutant of the code; and a fifth more at random.
 */
export const checkTable = (name: string, run: (...args: never[]) => unknown): void => {
  const rows = readJsonLines(new URL(`tables/${name}.jsonl`, import.meta.url)) as unknown[][]
  const wrong: string[] = []
  for (const row of rows) {
    const args = row.slice(0, -1).map(decode)
    const result = row.at(-1) as { is?: unknown; raises?: true }
    const expected = result.raises === true ? undefined : decode(result.is)
    const actual = run(...(args as never[]))
    if (!isEqual(actual, expected))
      wrong.push(`${show(args)} => ${show(actual)}, not ${show(expected)}`)
  }
  assert.equal(wrong.slice(0, 20).join('\n'), '', `${wrong.length} of ${rows.length} rows differ`)
}

const decode = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(decode)
  if (typeof value !== 'object' || value === null) return value
  if ('int' in value) return BigInt(String(value.int))
  if ('float' in value) return readFloat(String(value.float))
  if ('bytes' in value) return Uint8Array.from(value.bytes as number[])
  const { dict } = value as { dict: [unknown, unknown][] }
  return new Map(dict.map(([key, entry]) => [decode(key), decode(entry)]))
}

const readFloat = (text: string): number => {
  if (text === 'nan') return NaN
  return text.endsWith('inf') ? Number(text.replace('inf', 'Infinity')) : Number(text)
}

const isEqual = (actual: unknown, expected: unknown): boolean => {
  try {
    assert.deepStrictEqual(actual, expected)
    return true
  } catch {
    return false
  }
}

const show = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) => {
    if (typeof part === 'bigint') return `int ${part}`
    if (typeof part === 'number') return `float ${Object.is(part, -0) ? '-0' : part}`
    return part instanceof Map ? [...part] : part
  }) ?? 'nothing'
