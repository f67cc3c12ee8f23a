import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import type { WorkflowHandle, WorkflowStartOptions } from '@temporalio/client'

import { makeTaskQueue } from '../support/stack.ts'
import { makeLatch, waitFor } from '../support/wait.ts'
import { readAttributes, readDetails, untilFound } from './scenarios.ts'
import { useTestRunner } from './test-runner.ts'
import { VERSION_SCENARIOS, childOf, failing } from './version-scenarios.ts'

const UPLOAD = ['finish upload']
const CHECKED = [['start'], ['extract'], ['decide']]
const givenUp = (reading: string, checks: string) => [
  ['fail extraction', reading],
  ['give up', checks],
]
const GIVEN_UP = [['start'], ...givenUp('timed_out', 'storage_failed')]
const ACTIVE = 'NodeVersionStatusActive'
const PENDING = 'NodeVersionStatusPending'
const DELETED = 'NodeVersionStatusDeleted'

/** End of each run, the status it shows, and the activities it called. */
const ENDS: Record<
  keyof typeof VERSION_SCENARIOS,
  [end: string, status: string, ...callsMade: string[][]]
> = {
  active: ['COMPLETED', ACTIVE, UPLOAD, ...CHECKED],
  'uploaded-later': ['COMPLETED', ACTIVE, UPLOAD, UPLOAD, ...CHECKED],
  'looked-again': ['COMPLETED', ACTIVE, UPLOAD, UPLOAD, ...CHECKED],
  expired: ['COMPLETED', DELETED, UPLOAD, UPLOAD],
  'deleted-before-checks': ['COMPLETED', DELETED, UPLOAD],
  flagged: ['COMPLETED', 'NodeVersionStatusFlagged', UPLOAD, ...CHECKED],
  'checked-again': ['COMPLETED', ACTIVE, UPLOAD, ...CHECKED],
  'worker-lost': ['COMPLETED', ACTIVE, UPLOAD, ...CHECKED],
  'given-up': ['FAILED', PENDING, UPLOAD, ...GIVEN_UP],
  'deleted-while-failing': ['COMPLETED', DELETED, UPLOAD, ...GIVEN_UP],
  'never-read': [
    'FAILED',
    PENDING,
    UPLOAD,
    ['start'],
    ['extract'],
    ...givenUp('timed_out', 'archive_missing'),
  ],
  'reading-ended-by-hand': ['FAILED', PENDING, UPLOAD, ['start'], ['give up', 'workflow_lost']],
  'cancelled-by-operator': [
    'CANCELLED',
    PENDING,
    UPLOAD,
    ['start'],
    ...givenUp('cancelled', 'cancelled'),
  ],
}

type Policy = Pick<WorkflowStartOptions, 'workflowIdReusePolicy' | 'workflowIdConflictPolicy'>

/** Starts the workflow of a version once more. */
const startAgain = async (handle: WorkflowHandle, policy: Policy = {}): Promise<WorkflowHandle> => {
  const { client, workflowId } = handle
  const { taskQueue } = await handle.describe()
  const args = [{ versionId: workflowId.replace('publish-version/', '') }]
  return await client.start('publishVersion', { workflowId, taskQueue, args, ...policy })
}

/** Checks of the error with which a workflow failed. */
const failedAs =
  (type: string, message?: string) =>
  ({ cause }: Error & { cause?: { type?: string; message?: string } }): boolean => {
    assert.equal(cause?.type, type)
    if (message !== undefined) assert.equal(cause?.message, message)
    return true
  }

describe('the workflow of a version', { concurrency: true }, () => {
  const runner = useTestRunner('workflow')

  for (const [name, [end, status, ...callsMade]] of Object.entries(ENDS))
    test(`a publication ends with the right activities: ${name}`, async () => {
      const scenario = VERSION_SCENARIOS[name as keyof typeof VERSION_SCENARIOS]
      const { handle, calls: asked } = await runner.version(scenario)
      assert.deepEqual(asked, callsMade)
      assert.equal((await handle.describe()).status.name, end)
      assert.equal((await readAttributes(handle))['KilnStatus'], status)
    })

  test('fails with a code that operators can act on, and nothing else', async () => {
    const { handle } = await runner.version(VERSION_SCENARIOS['given-up'])
    await assert.rejects(handle.result(), failedAs('storage_failed', 'the checks could not run'))
  })

  test('does what is left when it is started again', async () => {
    const { handle, calls: callsMade } = await runner.version({
      check: () => Promise.resolve({ archiveState: 'accepted' }),
    })
    assert.deepEqual(callsMade, [UPLOAD, ...CHECKED])
    await (await startAgain(handle, { workflowIdReusePolicy: 'ALLOW_DUPLICATE' })).result()
    assert.deepEqual(callsMade, [UPLOAD, ...CHECKED, UPLOAD, ...CHECKED])
  })

  test('takes the place of the child of a run that was just ended, and waits for the upload', async () => {
    let waits = 0
    const { handle, calls: callsMade } = await runner.version({
      finishUpload: async () => {
        waits += 1
        return waits === 1
          ? { status: PENDING, hasArchive: false, waitMs: 60_000 }
          : { status: PENDING, hasArchive: true, waitMs: 0 }
      },
      check: () => Promise.resolve({ archiveState: 'accepted' }),
      act: async (first) => {
        await waitFor('the child waits', async () => waits === 1)
        await first.terminate('restarted')
        await (await startAgain(first)).result()
      },
    })
    assert.deepEqual(callsMade, [UPLOAD, UPLOAD, ...CHECKED])
    assert.equal((await handle.describe()).status.name, 'COMPLETED')
  })

  test('begins its checks again when it is retried while it gives up', async () => {
    const givenUp = makeLatch()
    const retried = makeLatch()
    let calls = 0
    const { handle, calls: callsMade } = await runner.version({
      check: (_versionId, attempts) => failing(calls++ < 3 ? Infinity : 0)('', attempts),
      whileGivingUp: async () => {
        givenUp.open()
        await retried.opened
      },
      act: async (first) => {
        // The operator sees the reason before the workflow has ended.
        await givenUp.opened
        const again = await startAgain(first, { workflowIdConflictPolicy: 'TERMINATE_EXISTING' })
        retried.open()
        await again.result()
      },
    })
    assert.deepEqual(callsMade, [UPLOAD, ...GIVEN_UP, UPLOAD, ...CHECKED])
    assert.equal((await handle.describe()).status.name, 'COMPLETED')
  })

  test('shows a reading that failed in the workflow of the extraction, too', async () => {
    const { handle } = await runner.version(VERSION_SCENARIOS['given-up'])
    const reading = childOf(handle, 'extract-host-nodes/')
    assert.equal((await reading.describe()).status.name, 'FAILED')
    assert.equal(await readDetails(reading), '**failed**: storage_failed')
    await assert.rejects(reading.result(), failedAs('storage_failed'))
  })

  test('is found by as much of a long version as a keyword of Temporal on PostgreSQL holds', async () => {
    const version = `1.0.0-${'a'.repeat(250)}`
    const { handle } = await runner.version(VERSION_SCENARIOS.active, { version })
    assert.equal((await readAttributes(handle))['KilnVersion'], version.slice(0, 255))
  })

  test('a publication shows operators what it is, for whom, and where it stands', async () => {
    const owner = `owner-${makeTaskQueue('of')}`
    const { handle } = await runner.version(VERSION_SCENARIOS.active, { owner })
    assert.equal(await (await handle.describe()).staticSummary(), 'publish my-pack@1.2.0')
    const node = { KilnPublisher: 'acme', KilnNode: 'my-pack', KilnVersion: '1.2.0' }
    const found = { KilnOwner: owner, KilnKind: 'publish', ...node }
    assert.deepEqual(await readAttributes(handle), { ...found, KilnStatus: ACTIVE })
    assert.deepEqual(await readAttributes(childOf(handle)), found)
    const query = `KilnOwner = '${owner}' and KilnNode = 'my-pack' and KilnStatus = '${ACTIVE}'`
    await untilFound(handle, query)
    const end = { status: ACTIVE, reason: 'archive accepted' }
    assert.deepEqual(await handle.result(), end)
  })
})
