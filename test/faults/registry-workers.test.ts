import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, test } from 'node:test'

import type { Entry } from '../support/entry.ts'
import { startService } from '../support/service.ts'
import type { Service } from '../support/service.ts'
import { temporalAddress } from '../support/stack.ts'
import { makeZip } from '../support/zip.ts'
import { makeRegistryClient } from './registry-client.ts'
import type { RegistryClient } from './registry-client.ts'
import { assertNothingLeft, assertVersionWorkflows, assertVersions } from './registry-ledger.ts'

/** Lines of the workers; one process waits at each, and more versions come than they can leave untouched. */
const FAILPOINTS = {
  core: [
    // Of the word that the checks run, of the host nodes, of the decision.
    'move.before-commit',
    'move.after-commit',
    'move.before-commit:2',
    'move.after-commit:3',
  ],
  media: ['check.before-store', 'check.after-store', 'check.before-commit', 'check.after-commit'],
} as const
const VERSIONS = 12

describe('workers that are killed while versions are checked', () => {
  let service: Service
  let client: RegistryClient
  const sent = new Map<string, Buffer>()

  before(async () => {
    service = await startService({ roles: ['api', 'media'] })
    client = await makeRegistryClient(service)
  })
  after(() => service.stop())

  const startArmed = (role: 'core' | 'media'): Promise<Entry[]> =>
    Promise.all(FAILPOINTS[role].map((failpoint) => service.start(role, { FAILPOINT: failpoint })))
  const publishOne = async (nodeId: string): Promise<void> => {
    const { id, signedUrl } = await client.publishUntilAnswered(nodeId)
    const bytes = makeZip(randomBytes(1000), 'pack/data.bin')
    await client.uploadUntilTaken(signedUrl, bytes)
    sent.set(id, bytes)
  }
  const publishAll = async (name: string): Promise<void> => {
    await Promise.all(Array.from({ length: VERSIONS }, (_, n) => publishOne(`${name}-${n}`)))
  }

  for (const role of ['core', 'media'] as const)
    describe(`of the role ${role}`, () => {
      let armed: Entry[]
      before(async () => {
        if (role === 'media') await service.entry('media').kill()
        armed = await startArmed(role)
        await publishAll(role)
      })
      // Temporal gives up on a killed one only after some seconds, in which the next ones are killed.
      after(() => service.start(role))

      for (const [index, failpoint] of FAILPOINTS[role].entries())
        test(`die at ${failpoint}`, async () => {
          assert.equal(await armed[index]?.ended, 'SIGKILL')
        })
    })

  test('leave each version Active by one move, with its archive, and nothing else', async () => {
    await assertVersions(service, sent)
    await assertVersionWorkflows(service, temporalAddress(), [...sent.keys()])
    await assertNothingLeft(service)
  })
})
