import assert from 'node:assert/strict'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'

import { findChildUser } from '../../../src/platform/adapters/child-user.ts'
import { useFolder } from '../../support/folder.ts'

describe('a child', () => {
  const folder = useFolder()

  test('has no other user where nobody can reach what it needs', async () => {
    const hidden = join(await mkdtemp(join(folder, 'hidden-')), 'program')
    await writeFile(hidden, '#!/bin/sh', { mode: 0o755 })
    for (const needed of [{ programs: [hidden] }, { programs: [], files: [hidden] }])
      assert.equal(await findChildUser(folder, needed), undefined)
    const closed = await mkdtemp(join(folder, 'closed-'))
    const below = await mkdtemp(join(closed, 'below-'))
    assert.equal(await findChildUser(below, { programs: [] }), undefined, 'nor what is in it')
  })
})
