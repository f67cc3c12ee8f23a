import { execFile } from 'node:child_process'
import { appendFile, mkdtemp, rm } from 'node:fs/promises'
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
/** In the order of their replacement. The UI of the release has a health check that only BusyBox's wget passes. */
const SERVICES = ['worker-core', 'worker-media', 'api']

/** The release by its own file, then this checkout in the order of docs/operations.md, while callers go on. */
export const tryUpgrade = async (stack: Stack, { say, add }: Report): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), 'kiln-release-'))
  try {
    const archive = join(folder, 'release.tar')
    await run('git', ['archive', '--output', archive, RELEASE], { cwd: ROOT })
    await run('tar', ['-xf', archive], { cwd: folder })
    // It left out what its own build needs, so that the image of the release could not be built.
    await appendFile(join(folder, '.dockerignore'), '!tools\n')
    const release = { folder, image: 'kiln:release' }
    await timed(say, `image of ${RELEASE}`, () => stack.compose(['build', 'api'], release))
    const up = ['up', '--detach', '--wait']
    await timed(say, `up of ${RELEASE}`, () =>
      stack.compose([...up, ...SERVICES, 'issuer'], release),
    )
    const callers = await makeCallers(stack)
    const row = await callers.during(`upgrade from ${RELEASE}`, async () => {
      await stack.compose(['up', '--no-deps', 'migrate'])
      for (const service of SERVICES)
        await timed(say, `new ${service}`, () => stack.compose([...up, '--no-deps', service]))
    })
    await callers.assertLedger()
    add(row)
  } finally {
    await rm(folder, { recursive: true })
  }
}
