import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { findRelease, unpackRelease } from '../upgrade/release.ts'
import { makeCallers } from './callers.ts'
import type { Report } from './callers.ts'
import { timed } from './engine.ts'
import type { Stack } from './stack.ts'

/** In the order of their replacement. */
const SERVICES = ['worker-core', 'worker-media', 'api']

/** The release by its own file, then this checkout in the order of docs/operations/run.md, while callers go on. */
export const testUpgrade = async (stack: Stack, { say, add }: Report): Promise<void> => {
  const commit = await findRelease()
  const folder = await mkdtemp(join(tmpdir(), 'kiln-release-'))
  try {
    await unpackRelease(commit, folder)
    const release = { folder, image: 'kiln:release' }
    await timed(say, `image of ${commit}`, () => stack.compose(['build', 'api'], release))
    const up = ['up', '--detach', '--wait']
    await timed(say, `up of ${commit}`, () =>
      stack.compose([...up, ...SERVICES, 'issuer'], release),
    )
    const callers = await makeCallers(stack)
    const row = await callers.during(`upgrade from ${commit}`, async () => {
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
