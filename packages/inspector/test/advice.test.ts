import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'

import { ADVICE } from '../src/advice.ts'
import { ROOT } from '../../../src/local/root.ts'

const SHOWN: Record<string, string> = { archive: 'archive_<code>', budget: 'budget_<limit>' }

test('the documents have the advice on every reason', async () => {
  const text = await readFile(join(ROOT, 'docs/registry.md'), 'utf8')
  const lines = text
    .replaceAll(/\n {2}/g, ' ')
    .replaceAll('`', '')
    .split('\n')
  for (const [code, advice] of Object.entries(ADVICE))
    assert.ok(lines.includes(`- ${SHOWN[code] ?? code}: ${advice}`), code)
})
