import { after, before } from 'node:test'

import { createCoreActivities, createMediaActivities } from '../../activities/index.ts'
import { makeDatabase } from '../../src/db/client.ts'
import { insertOutbox } from '../../src/db/shared/outbox.ts'
import { deliveryWorkflowId, startDelivery, startFirstAttempts } from '../../src/jobs/event.ts'
import { makeJobs } from '../../src/jobs/client.ts'
import { mediaQueue } from '../../src/jobs/start.ts'
import { startVideoTask, taskWorkflowId } from '../../src/jobs/task.ts'
import type { Jobs } from '../../src/jobs/client.ts'
import { startReconcile } from '../../src/jobs/reconcile.ts'
import { startRelay } from '../../src/jobs/relay.ts'
import { makeTaskQueue, temporalAddress, workflowBundle } from '../support/stack.ts'
import { PATIENT } from '../support/template.ts'
import {
  PROMPT_HEARTBEATS,
  connectPatiently,
  installQuietRuntime,
  startWorkers,
} from '../workflows/runtime.ts'
import { PATIENT_LIMITS, SHORT_SCHEDULE, TIMING, makePlace } from './place.ts'
import { VIDEO_TIMING, makeVideoEngine } from './video-engine.ts'
import { getVideo } from './video-place.ts'
import type { NewVideo } from './video-place.ts'

export type Stage = Awaited<ReturnType<typeof startStage>>

/** Starts both workers and the relay of one service, with slots for one task of an owner and an engine that waits for the test. */
export const startStage = async () => {
  installQuietRuntime()
  const place = await makePlace()
  const { sql, log } = place.deps
  const taskQueue = makeTaskQueue('stage')
  const connection = await connectPatiently()
  const jobs = makeJobs({ connection, namespace: 'default', sql, log })
  const engine = makeHeldEngine()
  const stopping = new AbortController()
  const deps = {
    ...place.deps,
    slots: 1,
    dispatchNow: jobs.dispatchNow,
    videoEngine: engine.engine,
    announceEvent: (id: string) => void jobs.announceEvent(id),
    startDelivery: (task: Parameters<typeof startDelivery>[0]) =>
      startDelivery(task, { taskQueue }),
    stopping: stopping.signal,
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
  const timings = { timing: TIMING, videoTiming: VIDEO_TIMING }
  const options = { sql, jobs, taskQueue, ...timings, slots: 1, runs: 1 }
  await jobs.keep(startFirstAttempts(options))
  return {
    place,
    jobs,
    /** Ids of the tasks that the engine works on. */
    rendering: engine.rendering as ReadonlySet<string>,
    /** Lets the engine finish a task, at once or when it begins. */
    release: engine.release,
    /** Options that reconcile and the operator are made with. */
    options,
    workflow: (id: string) => jobs.client.workflow.getHandle(taskWorkflowId('video', id)),
    /** The delivery of its events. */
    delivery: (id: string) => jobs.client.workflow.getHandle(deliveryWorkflowId(id)),
    /** Runs reconcile, which looks at every open task, until something has happened. `check` takes the place of its own. */
    async whileReconciling(happens: () => Promise<unknown>, check: Jobs['check'] = jobs.check) {
      const { url } = place.database
      const lockSql = makeDatabase({ url, ...PATIENT })
      const surveying = { ...options, jobs: { ...jobs, check } }
      const loop = startReconcile({ ...surveying, lockSql, log, intervalMs: 50, afterSeconds: 0 })
      await happens().finally(async () => {
        await loop.stop()
        await lockSql.end({ timeout: 1 })
      })
    },
    /** Inserts a task as a creation does. Its workflow starts at once, unless `quiet`. */
    async create({ quiet = false, ...given }: NewVideo & { quiet?: boolean }) {
      const id = await getVideo(place.database, given)
      if (quiet) return id
      const facts = {
        taskId: id,
        kind: 'text2video',
        owner: given.owner ?? 'alice',
        summary: '',
        offPeak: false,
      }
      const start = startVideoTask(facts, options)
      jobs.dispatchNow(await sql.begin((sql) => insertOutbox(sql, start)))
      return id
    },
    async close() {
      await relay.stop()
      stopping.abort()
      await workers.stop()
      await jobs.drain()
      await connection.close()
      await place.close()
    },
  }
}

/** Starts a stage before the first test of a suite and closes it after the last. */
export const useStage = (): Stage => {
  const stage = {} as Stage
  before(async () => void Object.assign(stage, await startStage()))
  after(() => stage.close())
  return stage
}

/** Makes an engine that works on a task until the test releases it. */
const makeHeldEngine = () => {
  const rendering = new Set<string>()
  const released = new Set<string>()
  const waiting = new Map<string, () => void>()
  const engine = makeVideoEngine(async ({ taskId }, { signal }) => {
    if (released.has(taskId)) return
    rendering.add(taskId)
    try {
      await new Promise<void>((resolve, reject) => {
        waiting.set(taskId, resolve)
        signal.addEventListener('abort', () => reject(signal.reason))
        if (signal.aborted) reject(signal.reason)
      })
    } finally {
      rendering.delete(taskId)
    }
  })
  const release = (id: string): void => {
    released.add(id)
    waiting.get(id)?.()
  }
  return { engine, rendering, release }
}
