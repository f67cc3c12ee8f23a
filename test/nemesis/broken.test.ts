import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'

import { ROOT } from '../../src/local/root.ts'
import { MISTAKES } from './broken.ts'

test('each broken build breaks sources that are there', async () => {
  for (const [name, { file, find }] of Object.entries(MISTAKES)) {
    const parts = (await readFile(join(ROOT, file), 'utf8')).split(find)
    assert.equal(parts.length, 2, `${name}: ${file} has another text`)
  }
})
