import type { WorkflowHandle } from '@temporalio/client'

import { startFirstAttempts } from '../../../activities/events/first-attempts.ts'
import { createCoreActivities } from '../../../activities/index.ts'
import { createMediaActivities } from '../../support/media.ts'
import { makeDatabase, type Transaction } from '../../../src/platform/db/client.ts'
import { admitOwner } from '../../../src/tasks/db/admission.ts'
import { unitOfWork, type Enqueue } from '../../../src/platform/db/unit-of-work.ts'
import {
  announceEvent,
  deliveryWorkflowId,
  startDelivery,
} from '../../../src/events/temporal/start-delivery.ts'
import { makeJobs, type Jobs } from '../../../src/platform/temporal/client.ts'
import { mediaQueue } from '../../../src/platform/temporal/start.ts'
import { makeStartOf, taskWorkflowId } from '../../../src/tasks/temporal/task.ts'
import type { CheckTiming } from '../../../src/registry/domain/check-timing.ts'
import { startReconcile } from '../../../src/platform/temporal/reconcile.ts'
import { makeReconciledEvents } from '../../../src/events/temporal/reconcile-event.ts'
import { makeReconciledTasks } from '../../../src/tasks/temporal/reconcile-task.ts'
import { makeReconciledVersions } from '../../../src/registry/temporal/reconcile-version.ts'
import { startRelay } from '../../../src/platform/temporal/relay.ts'
import { makeTaskQueue, temporalAddress, workflowBundle } from '../../support/stack.ts'
import { enqueueNothing } from '../../support/task-rows.ts'
import { PATIENT } from '../../support/template.ts'
import { use } from '../../support/use.ts'
import { waitFor } from '../../support/wait.ts'
import {
  PROMPT_HEARTBEATS,
  connectPatiently,
  installQuietRuntime,
  startWorkers,
} from '../../workflows/runtime.ts'
import {
  PATIENT_LIMITS,
  SHORT_SCHEDULE,
  TIMING,
  makePlace,
  untilAborted,
} from '../../tasks/activities/place.ts'
import { VIDEO_TIMING, makeVideoEngine } from '../../tasks/activities/video-engine.ts'
import { getVideo, type NewVideo } from '../../tasks/activities/video-place.ts'

export type Stage = Awaited<ReturnType<typeof startStage>>

/** Starts both workers and the relay of one service, with slots for one task of an owner and an engine that waits for the test. */
const startStage = async () => {
  installQuietRuntime()
  const place = await makePlace()
  const { sql, log } = place.deps
  const taskQueue = makeTaskQueue('stage')
  const connection = await connectPatiently()
  const jobs = makeJobs({ connection, namespace: 'default', sql, log, publicUrl: '' })
  const engine = makeHeldEngine()
  const startOf = makeStartOf({
    taskQueue,
    timing: TIMING,
    videoTiming: VIDEO_TIMING,
  })
  const deps = {
    ...place.deps,
    slots: 1,
    startOf,
    jobs,
    videoEngine: engine.engine,
    announceEvent: (id: string) => void announceEvent(jobs, id),
    startDelivery: (task: Parameters<typeof startDelivery>[0]) =>
      startDelivery(task, { taskQueue }),
    // A receiver may ask for an hour, in which no test ends: what is sent then was sent for another reason.
    delivery: {
      schedule: { ...SHORT_SCHEDULE, retryAfterSeconds: 3600 },
      deferSeconds: 0.05,
      limits: PATIENT_LIMITS,
    },
  }
  const workers = await startWorkers(temporalAddress(), [
    {
      taskQueue,
      workflowBundle: { codePath: workflowBundle() },
      activities: createCoreActivities(deps),
    },
    {
      ...PROMPT_HEARTBEATS,
      taskQueue: mediaQueue(taskQueue),
      activities: createMediaActivities(deps),
    },
  ])
  const relay = startRelay({ sql, jobs, log, intervalMs: 100 })
  const options = { sql, jobs, taskQueue, slots: 1, startOf }
  const firstAttempts = startFirstAttempts(deps)
  return {
    place,
    jobs,
    /** Ids of the tasks that the engine works on. */
    rendering: engine.rendering as ReadonlySet<string>,
    /** Lets the engine finish a task, at once or when it begins. */
    release: engine.release,
    /** Options that reconcile and the operator are made with. */
    options,
    untilRendering: (id: string): Promise<boolean> =>
      waitFor(`${id} is rendered`, () => engine.rendering.has(id)),
    workflow: (id: string) => jobs.client.workflow.getHandle(taskWorkflowId('video', id)),
    /** The delivery of its events. */
    delivery: (id: string) => jobs.client.workflow.getHandle(deliveryWorkflowId(id)),
    /** Runs reconcile, which looks at every open task and version, until something has happened. `check` takes the place of its own. */
    async whileReconciling(
      happens: () => Promise<unknown>,
      {
        check = jobs.check,
        ...own
      }: { check?: Jobs['check']; checkTiming?: Partial<CheckTiming> } = {},
    ) {
      const { url } = place.database
      const lockSql = makeDatabase({ url, ...PATIENT })
      const surveying = { ...options, ...own, log, jobs: { ...jobs, check } }
      const kinds = [
        ...makeReconciledTasks(surveying),
        ...makeReconciledEvents(surveying),
        ...makeReconciledVersions(surveying),
      ]
      const loop = startReconcile({
        ...surveying,
        kinds,
        lockSql,
        intervalMs: 50,
        afterSeconds: 0,
      })
      await happens().finally(async () => {
        await loop.stop()
        await lockSql.end({ timeout: 1 })
      })
    },
    /**
     * Inserts a task as a creation does, and admits it where its owner has a slot, unless `quiet`. The start of a `lost` one
     * never comes to Temporal.
     */
    async create({
      quiet = false,
      lost = false,
      owner = 'alice',
      ...given
    }: NewVideo & { quiet?: boolean; lost?: boolean }) {
      const id = await getVideo(place.database, { ...given, owner })
      const admit = (sql: Transaction, enqueue: Enqueue) =>
        admitOwner(sql, { ...deps, owner, enqueue: lost ? enqueueNothing : enqueue })
      if (!quiet) await unitOfWork(deps, admit)
      return id
    },
    async close() {
      await relay.stop()
      await Promise.all([workers.stop(), firstAttempts.stop()])
      await jobs.drain()
      await connection.close()
      await place.close()
    },
  }
}

/** Starts a stage before the first test of a suite and closes it after the last. */
export const useStage = (): Stage => use(startStage, (stage) => stage.close())

/** Waits until all of these members are what is wanted. */
export const untilSeen = <Seen extends object>(
  what: string,
  see: () => Promise<Seen>,
  wanted: Partial<Seen>,
): Promise<Seen> => {
  let seen: Seen | undefined
  const describe = () => `${what} is ${JSON.stringify(wanted)}: it is ${JSON.stringify(seen)}`
  return waitFor(describe, async () => {
    seen = await see()
    const names = Object.keys(wanted) as (keyof Seen)[]
    return names.every((name) => seen?.[name] === wanted[name]) && seen
  })
}

/** Waits until a workflow has this status; one that is not there has none. */
export const untilStatus = (handle: WorkflowHandle, status: string): Promise<boolean> =>
  waitFor(`${handle.workflowId} is ${status}`, () =>
    handle.describe().then(
      (described) => described.status.name === status,
      () => false,
    ),
  )

/** Waits until a workflow runs that is not this one. */
export const untilNextRun = (handle: WorkflowHandle, runId: string): Promise<boolean> =>
  waitFor('another run is there', async () => {
    const now = await handle.describe()
    return now.runId !== runId && now.status.name === 'RUNNING'
  })

/** Makes an engine that works on a task until the test releases it. */
const makeHeldEngine = () => {
  const rendering = new Set<string>()
  const released = new Set<string>()
  const waiting = new Map<string, () => void>()
  const engine = makeVideoEngine(async ({ taskId }, { signal }) => {
    if (released.has(taskId)) return
    rendering.add(taskId)
    const isReleased = new Promise<void>((resolve) => waiting.set(taskId, resolve))
    await Promise.race([isReleased, untilAborted(undefined, { signal })]).finally(() =>
      rendering.delete(taskId),
    )
  })
  const release = (id: string): void => {
    released.add(id)
    waiting.get(id)?.()
  }
  return { engine, rendering, release }
}
