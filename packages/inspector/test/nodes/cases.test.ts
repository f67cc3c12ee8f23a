import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { readJsonLines } from '../../../../test/support/json-lines.ts'
import type { Files } from '../entries.ts'
import { extractAs, namesOf } from './extract-pack.ts'

interface Case {
  pack: string
  /** Names that the host registers, read with CPython 3.12 by the host's own loading. */
  names: string[]
  /** Fewer names are right, too, where they are marked as partial. */
  partial_is_enough: boolean
  files: Files
}

const CASES = readJsonLines(new URL('cases.jsonl', import.meta.url)) as Case[]

describe('packs have the names that the host registers, or are marked as partial', () => {
  for (const { pack, names, partial_is_enough: partialIsEnough, files } of CASES)
    test(pack, () => {
      const section = extractAs(pack, files)
      const found = namesOf(section).toSorted()
      if (partialIsEnough && section.partial) {
        assert.ok(section.reasons.length > 0)
        assert.deepEqual(
          found.filter((name) => !names.includes(name)),
          [],
        )
      } else assert.deepEqual(found, names)
    })
})
