import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { before, describe, test } from 'node:test'

import { makeCommands } from '../../../src/operate/commands.ts'
import { findOpenVersion } from '../../../src/registry/db/open-version.ts'
import { findVersionState, transitionVersion } from '../../../src/registry/db/version-transition.ts'
import type { VersionState } from '../../../src/registry/db/version-transition.ts'
import { retryVersion } from '../../../src/registry/db/version-admin.ts'
import type { CheckTiming } from '../../../src/registry/domain/check-timing.ts'
import { endOpen } from '../../../src/platform/temporal/start.ts'
import { publishWorkflowId, startPublishVersion } from '../../../src/registry/temporal/version.ts'
import { unitOfWork } from '../../../src/platform/db/unit-of-work.ts'
import {
  untilNextRun,
  untilSeen,
  untilStatus,
  useStage,
} from '../../events/activities/video-stage.ts'
import { uploadArchive } from '../activities/version-upload.ts'
import { PATIENCE_MS } from '../../support/patience.ts'
import { use } from '../../support/use.ts'
import { waitFor } from '../../support/wait.ts'
import { makeZip } from '../../support/zip.ts'
import { AUDIT, OPTIONS, makeRegistryPlace } from './registry-place.ts'

const ZIP = makeZip('NODE_CLASS_MAPPINGS = {}')
const ACTIVE = 'NodeVersionStatusActive'
const UNREADABLE =
  'checks could not run (the archive could not be read or stored); an operator can retry'
const ENDED = 'checks could not run (the workflow was ended); an operator can retry'
/**
 * Timing by which a failed attempt is soon repeated. None is lost because a busy machine beats late; one whose start never
 * came to a worker is repeated while its test still waits.
 */
const SHORT = {
  heartbeatSeconds: PATIENCE_MS / 4000,
  attempts: 2,
  retrySeconds: 0.01,
  maxRetrySeconds: 0.01,
}
/** Timing by which a failed attempt is not repeated while a test lasts. */
const ONE_ATTEMPT = { ...SHORT, retrySeconds: 3600, maxRetrySeconds: 3600 }

describe('a version', () => {
  const stage = useStage()
  const registry = use(() => makeRegistryPlace(stage.place.database))
  const commands = use(() => makeCommands({ ...stage.options, audit: AUDIT, checkTiming: SHORT }))
  before(() => registry.addPublisher('pub'))
  let count = 0

  const getFacts = async (id: string) => {
    const version = await findOpenVersion(stage.place.deps.sql, id)
    if (!version) throw new Error(`no version ${id}`)
    return { ...version, versionId: id }
  }
  const makeStart = async (id: string, checkTiming: Partial<CheckTiming> = SHORT) =>
    startPublishVersion(await getFacts(id), { ...stage.options, checkTiming })
  const startNow = async (id: string, timing?: Partial<CheckTiming>): Promise<void> => {
    const start = await makeStart(id, timing)
    await unitOfWork(stage.place.deps, (_sql, enqueue) => enqueue(start))
  }
  /** Publishes a version whose workflow waits for the upload; a quiet one has no workflow. */
  const publish = async ({
    quiet = false,
    timing = SHORT,
  }: { quiet?: boolean; timing?: Partial<CheckTiming> } = {}): Promise<string> => {
    count += 1
    const id = await registry.addVersion({ nodeId: `pack-${count}` })
    await stage.place.deps.sql`delete from outbox where workflow_id = ${publishWorkflowId(id)}`
    if (!quiet) {
      await startNow(id, timing)
      await untilWaiting(id)
    }
    return id
  }
  const workflow = (id: string) => stage.jobs.client.workflow.getHandle(publishWorkflowId(id))
  const untilWaiting = (id: string) =>
    untilStatus(stage.jobs.client.workflow.getHandle(`receive-archive/${id}`), 'RUNNING')
  const upload = (versionId: string) => uploadArchive(stage.place, { versionId, bytes: ZIP })
  const see = async (id: string): Promise<VersionState> => {
    const state = await findVersionState(stage.place.deps.sql, id)
    if (!state) throw new Error(`no version ${id}`)
    return state
  }
  const until = (id: string, wanted: Partial<VersionState>): Promise<VersionState> =>
    untilSeen(id, () => see(id), wanted)
  const succeed = async (id: string): Promise<void> => {
    await until(id, { status: ACTIVE })
    await untilStatus(workflow(id), 'COMPLETED')
  }
  /** Makes the store reject the archive of this version alone. */
  const breakStore = (id: string) =>
    stage.place.deps.storage.putStream(`archives/${id}`, Readable.from([ZIP]), { maxBytes: 1e6 })
  const mendStore = (id: string) => stage.place.deps.storage.remove(`archives/${id}`)
  const untilFailing = (id: string) =>
    waitFor('an attempt has failed', async () => {
      const reading = stage.jobs.client.workflow.getHandle(`extract-host-nodes/${id}`)
      const described = await reading.describe().catch(() => undefined)
      return (described?.raw.pendingActivities?.[0]?.attempt ?? 0) > 1
    })
  /** Retries a version as the admin route does. */
  const retry = async (id: string): Promise<void> => {
    const restart = endOpen(await makeStart(id))
    const done = await unitOfWork(stage.place.deps, (sql, enqueue) =>
      retryVersion(
        sql,
        { id, checks: restart, extraction: restart, audit: AUDIT },
        { ...OPTIONS, enqueue },
      ),
    )
    assert.ok(done, 'there was something to retry')
  }
  const whileReconciling = (happens: () => Promise<unknown>): Promise<void> =>
    stage.whileReconciling(happens, { checkTiming: SHORT })

  describe('when it is reconciled', () => {
    test('is started when Temporal knows nothing of it, before and after its upload', async () => {
      const [awaited, uploaded] = [await publish({ quiet: true }), await publish({ quiet: true })]
      await upload(uploaded)
      await whileReconciling(async () => {
        await succeed(uploaded)
        await untilWaiting(awaited)
      })
      await upload(awaited)
      await succeed(awaited)
    })

    test('is started again when its workflow was ended while it waited', async () => {
      const id = await publish()
      await workflow(id).terminate('by hand')
      await whileReconciling(async () => {
        await untilStatus(workflow(id), 'RUNNING')
        await upload(id)
        await succeed(id)
      })
    })

    test('is left to an operator when its workflow was ended during its checks', async () => {
      const id = await publish({ timing: ONE_ATTEMPT })
      await breakStore(id)
      await upload(id)
      await untilFailing(id)
      await workflow(id).terminate('by hand')
      const { runId } = await workflow(id).describe()
      await whileReconciling(async () => {
        assert.equal((await until(id, { checksFailed: true })).reason, ENDED)
        const other = await publish({ quiet: true })
        // When this one is started, the first was looked at, too.
        await untilWaiting(other)
      })
      assert.equal((await workflow(id).describe()).runId, runId)
      await mendStore(id)
      await retry(id)
      await succeed(id)
    })

    test('is left alone as long as its workflow is open', async () => {
      const id = await publish()
      const { runId } = await workflow(id).describe()
      const before = await see(id)
      await whileReconciling(async () => await untilWaiting(await publish({ quiet: true })))
      assert.deepEqual(await see(id), before)
      assert.equal((await workflow(id).describe()).runId, runId)
    })
  })

  test('whose archive cannot be stored stays Pending with a reason, while others pass', async () => {
    const [id, other] = [await publish(), await publish()]
    await breakStore(id)
    await Promise.all([upload(id), upload(other)])
    await succeed(other)
    const { status, reason } = await until(id, { checksFailed: true })
    assert.deepEqual([status, reason], ['NodeVersionStatusPending', UNREADABLE])
    await untilStatus(workflow(id), 'FAILED')
    const reconciled = await workflow(id).describe()
    await whileReconciling(async () => await untilWaiting(await publish({ quiet: true })))
    assert.equal((await workflow(id).describe()).runId, reconciled.runId)
    await mendStore(id)
    await retry(id)
    await succeed(id)
  })

  test('is checked again by whoever asks for it before its workflow has ended', async () => {
    const ids = await Promise.all(Array.from({ length: 8 }, () => publish()))
    await Promise.all(ids.map(breakStore))
    await Promise.all(ids.map(upload))
    await Promise.all(
      ids.map(async (id) => {
        await until(id, { checksFailed: true })
        await mendStore(id)
        await retry(id)
        await succeed(id)
      }),
    )
    const transitions = await stage.place.deps.sql`
      select count(*)::integer as n from version_transition
      where version_id = any(${ids}) group by version_id
    `
    // Published, checked, given up, retried, passed.
    assert.deepEqual(new Set(transitions.map((row) => row['n'] as number)), new Set([5]))
  })

  test('is not given up again by a late repetition, after whoever asked for it', async () => {
    const { sql } = stage.place.deps
    const id = await publish({ quiet: true })
    await upload(id)
    await breakStore(id)
    await unitOfWork(stage.place.deps, (sql) =>
      transitionVersion(sql, { id, name: 'start_checks', actor: 'workflow' }),
    )
    const untilWaitingForLocks = (count: number) =>
      waitFor(`${count} wait for a lock`, async () => {
        const waiting = await sql`
          select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
        `
        return waiting.length === count
      })
    let asked: Promise<void> | undefined
    await sql.begin(async (sql) => {
      await sql`lock table version_transition in exclusive mode`
      await startNow(id)
      await untilWaitingForLocks(1)
      await mendStore(id)
      asked = retry(id)
      await untilWaitingForLocks(2)
      // The first attempt at giving up has had its time; it holds the node's row, and the second comes after the retry.
      await untilWaitingForLocks(3)
    })
    await asked
    await succeed(id)
    const transitions = await sql`
      select to_status, reason from version_transition where version_id = ${id} order by at, id
    `
    // Published, checked, given up, retried, passed.
    assert.equal(transitions.length, 5, JSON.stringify(transitions))
  })

  describe('by an operator', () => {
    const makeStalled = (id: string) => stage.place.deps.sql`
      update version set last_moved_at = clock_timestamp() - interval '11 minutes' where id = ${id}
    `

    test('is listed when it stands still, unless its upload may still come', async () => {
      const publishQuietly = () => publish({ quiet: true })
      const [awaited, overdue] = [await publishQuietly(), await publishQuietly()]
      const uploaded = await publishQuietly()
      await upload(uploaded)
      for (const id of [awaited, overdue, uploaded]) await makeStalled(id)
      await stage.place.deps.sql`
        update version set upload_expires_at = clock_timestamp() - interval '6 minutes'
        where id = ${overdue}
      `
      const lines = (await commands.stuck()).split('\n')
      const has = (id: string) => lines.some((line) => line.startsWith(`  ${id}  pack-`))
      assert.deepEqual([awaited, overdue, uploaded].map(has), [false, true, true])
      const summary = '2 pending versions have not moved for 10 minutes'
      assert.ok(lines.includes(summary), lines.join('\n'))
    })

    test('is restarted while it waits, and still waits', async () => {
      const id = await publish()
      const { runId } = await workflow(id).describe()
      assert.equal(await commands.restart(id), `publish-version/${id} was started again`)
      await untilNextRun(workflow(id), runId)
      await upload(id)
      await succeed(id)
    })

    test('is restarted while its checks fail, and after they gave up', async () => {
      const failing = await publish({ timing: ONE_ATTEMPT })
      const givenUp = await publish()
      for (const id of [failing, givenUp]) {
        await breakStore(id)
        await upload(id)
      }
      await untilFailing(failing)
      await until(givenUp, { checksFailed: true })
      for (const id of [failing, givenUp]) {
        await mendStore(id)
        await commands.restart(id)
        await succeed(id)
      }
    })

    test('that has been decided on is not restarted, and none is failed', async () => {
      const id = await publish()
      await assert.rejects(commands.fail(id), { name: 'OperatorError' })
      await upload(id)
      await succeed(id)
      await assert.rejects(commands.restart(id), {
        name: 'OperatorError',
        message: `version ${id} is ${ACTIVE}: only a pending version can be started again`,
      })
    })
  })
})
