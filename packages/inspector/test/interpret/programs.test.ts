import { reprOf } from '../../src/interpret/operate/text-of.ts'
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { readJsonLines } from '../../../../test/support/json-lines.ts'
import { makeRunner } from './support.ts'
import type { Run } from './support.ts'

interface Program {
  /** Binds `result` to a list. */
  source: string
  /** `repr` of each of its items, as CPython 3.11 prints it. */
  expected: string[]
}

const PROGRAMS = readJsonLines(new URL('programs.jsonl', import.meta.url)) as Program[]

describe('small programs give what CPython gives', () => {
  let run: Run
  before(async () => {
    run = await makeRunner()
  })

  for (const [index, { source, expected }] of PROGRAMS.entries()) {
    test(`program ${index + 1}: ${source.split('\n', 1)[0]?.slice(0, 60)}`, () => {
      const ran = run(source)
      const { runtime } = ran.interpreter
      const items = ran.interpreter.readItems(ran.get('result') ?? null).items
      assert.deepEqual(
        items.map((item) => reprOf(runtime, item)),
        expected,
      )
      assert.deepEqual(ran.interpreter.notes(), [])
    })
  }
})
