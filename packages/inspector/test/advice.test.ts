import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'

import { ADVICE } from '../src/advice.ts'
import { CUTTING, LIMITS } from '../src/interpret/budget.ts'
import { ROOT } from '../../../src/local/root.ts'

const readPage = () => readFile(join(ROOT, 'docs/extraction.md'), 'utf8')

const SHOWN: Record<string, string> = { archive: 'archive_<code>', budget: 'budget_<limit>' }

test('the documents have the advice on every reason', async () => {
  const lines = (await readPage())
    .replaceAll(/\n {2}/g, ' ')
    .replaceAll('`', '')
    .split('\n')
  for (const [code, advice] of Object.entries(ADVICE))
    assert.ok(lines.includes(`- ${SHOWN[code] ?? code}: ${advice}`), code)
})

test('the documents have each limit, and the code of those after which nodes may be missing', async () => {
  const page = await readPage()
  for (const name of CUTTING) assert.match(page, new RegExp(`\\| \`budget_${name}\` +\\|\n`), name)
  const { milliseconds, fileBytes, parsedBytes, ...counts } = LIMITS
  for (const [name, limit] of Object.entries(counts))
    assert.match(page, new RegExp(`[|;] ${limit.toLocaleString('en')}\\b.*\\|\n`), name)
  assert.deepEqual([milliseconds, fileBytes, parsedBytes], [10_000, 5_000_000, 32_000_000])
})
