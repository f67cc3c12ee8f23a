import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { describe, test } from 'node:test'

import { LIBRARY } from '../../../src/interpret/library/library.ts'
import { readJsonLines } from '../../../../../test/support/json-lines.ts'
import { makeRunner, reprOf } from '../support.ts'

/** Files beside `__init__.py`, by path. */
const pack = JSON.parse(readFileSync(new URL('pack.json', import.meta.url), 'utf8')) as Record<
  string,
  string
>

/**
 * Each table holds programs, and what CPython 3.12 prints as repr of their `result` when they are the `__init__.py` of
 * that pack.
 */
const tables = readdirSync(new URL('tables', import.meta.url)).toSorted()

describe('the standard library gives what CPython gives', async () => {
  const run = await makeRunner({ library: LIBRARY })
  for (const table of tables) {
    test(`in ${table.replace('.jsonl', '')}`, () => {
      const wrong: string[] = []
      const rows = readJsonLines(new URL(`tables/${table}`, import.meta.url)) as string[][]
      for (const [source = '', expected] of rows) {
        const ran = run({ ...pack, '__init__.py': source })
        const actual = reprOf(ran, 'result')
        const [note] = ran.interpreter.notes()
        if (actual !== expected) {
          wrong.push(`${source}\n  gives   ${actual} ${note?.message ?? ''}\n  and not ${expected}`)
        }
      }
      assert.equal(wrong.join('\n\n'), '')
    })
  }
})
