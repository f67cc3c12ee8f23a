import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { ROOT } from '../../src/local/root.ts'
import { makeCallers } from './callers.ts'
import type { Report } from './callers.ts'
import { timed } from './engine.ts'
import type { Stack } from './stack.ts'

const run = promisify(execFile)

const RELEASE = 'v0.1.0'

/** The release by its own file, then this checkout in the order of docs/operations.md, while callers go on. */
export const tryUpgrade = async (stack: Stack, { say, add }: Report): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), 'kiln-release-'))
  try {
    const archive = join(folder, 'release.tar')
    await run('git', ['archive', '--output', archive, RELEASE], { cwd: ROOT })
    await run('tar', ['-xf', archive], { cwd: folder })
    const release = { folder, image: 'kiln:release' }
    await timed(say, `image of ${RELEASE}`, () => stack.compose(['build', 'api'], release))
    const up = ['up', '--detach', '--wait']
    await timed(say, `up of ${RELEASE}`, () => stack.compose(up, release))
    const callers = await makeCallers(stack)
    const row = await callers.during(`upgrade from ${RELEASE}`, async () => {
      await stack.compose(['up', '--no-deps', 'migrate'])
      for (const service of ['worker-core', 'worker-media', 'api'])
        await timed(say, `new ${service}`, () => stack.compose([...up, '--no-deps', service]))
    })
    await callers.assertLedger()
    add(row)
  } finally {
    await rm(folder, { recursive: true })
  }
}
