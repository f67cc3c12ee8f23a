import { execFile, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { promisify } from 'node:util'

import { ROOT } from '../../src/local/root.ts'
import { buildFromGo } from '../../tools/build-from-go.ts'
import { folderOf, makeOnce, Skipped } from '../../tools/python.ts'

const ACTIONLINT = 'github.com/rhysd/actionlint/cmd/actionlint@v1.7.12'

const skip = spawnSync('go', ['version']).error
  ? 'Go is not there, by which actionlint is built'
  : false

test('actionlint finds no issue in the workflow of a release', { skip }, async (context) => {
  const folder = folderOf('actionlint', import.meta.filename)
  try {
    await makeOnce(folder, async () => {
      if (buildFromGo(folder, [ACTIONLINT]) !== 0)
        throw new Skipped('actionlint cannot be built: it needs the module proxy')
    })
  } catch (error) {
    if (!(error instanceof Skipped)) throw error
    return context.skip(error.message)
  }
  const lint = promisify(execFile)(join(folder, 'actionlint'), ['-no-color'], { cwd: ROOT })
  await lint.catch(({ stdout }: { stdout: string }) => assert.fail(stdout))
})
