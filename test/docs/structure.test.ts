import assert from 'node:assert/strict'
import { test } from 'node:test'

import { ROOT } from '../../src/local/root.ts'
import { listUpward } from '../../tools/docs/structure.ts'

test('no import leads to a higher area', async () => {
  assert.deepEqual(await listUpward(ROOT), [])
})
