import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'

import { ROOT } from '../../src/local/root.ts'

interface LockEntry {
  optionalDependencies?: Record<string, string>
}

test('the lock file names the packages of every platform, as npm ci wants (else run tools/complete-lock.mjs)', async () => {
  const text = await readFile(join(ROOT, 'package-lock.json'), 'utf8')
  const { packages } = JSON.parse(text) as { packages: Record<string, LockEntry> }
  const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter(
      (name) =>
        !(`node_modules/${name}` in packages) && !(`${path}/node_modules/${name}` in packages),
    ),
  )
  assert.deepEqual(missing, [])
})

test('every script that needs the packages installs them first', async () => {
  const text = await readFile(join(ROOT, 'package.json'), 'utf8')
  const { scripts } = JSON.parse(text) as { scripts: Record<string, string> }
  const names = Object.keys(scripts).filter((name) => !name.startsWith('pre'))
  const bare = names.filter((name) => scripts[`pre${name}`] !== 'node tools/install.mjs')
  assert.deepEqual(bare, [])
})
