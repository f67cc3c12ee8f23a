import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'

interface LockEntry {
  optionalDependencies?: Record<string, string>
}

test('the lock file names the packages of every platform, as npm ci wants (else run tools/complete-lock.mjs)', async () => {
  const text = await readFile(new URL('../../package-lock.json', import.meta.url), 'utf8')
  const { packages } = JSON.parse(text) as { packages: Record<string, LockEntry> }
  const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter(
      (name) =>
        !(`node_modules/${name}` in packages) && !(`${path}/node_modules/${name}` in packages),
    ),
  )
  assert.deepEqual(missing, [])
})
