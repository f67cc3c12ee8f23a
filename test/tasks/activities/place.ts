import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ActivityCancellationDetails } from '@temporalio/common'
import { MockActivityEnvironment } from '@temporalio/testing'
import { DefaultLogger } from '@temporalio/worker'

import type { MediaDependencies } from '../../support/media.ts'
import type { FirstAttemptDependencies } from '../../../activities/events/dependencies.ts'
import type { CoreDependencies } from '../../../activities/tasks/dependencies.ts'
import type {
  AttemptOptions,
  RenderActivities,
  TaskStanding,
} from '../../../activities/tasks/task.ts'
import { makeLicenseFinder } from '../../../activities/registry/read-license.ts'
import {
  makeLocalImages,
  makeRenderImageTask,
} from '../../../activities/engines/render-image-task.ts'
import type {
  ImageEngine,
  ImageJob,
  RenderControl,
} from '../../../src/engines/image-engine/image-engine.ts'
import { makeOutbound } from '../../../src/platform/outbound/outbound.ts'
import { POST_LIMITS, type PostLimits } from '../../../src/platform/outbound/post.ts'
import { makeAttemptSlots } from '../../../src/platform/outbound/attempt-slots.ts'
import { makeSigner } from '../../../src/platform/adapters/signing.ts'
import { makeLocalStorage } from '../../../src/platform/storage/local.ts'
import { makeWebhookSecret } from '../../../src/events/adapters/webhook.ts'
import type { VideoEngine } from '../../../src/engines/video-engine/video-engine.ts'
import type { OutboxRow } from '../../../src/platform/db/outbox.ts'
import type { Sql } from '../../../src/platform/db/client.ts'
import type { NewTaskInput, TaskResult } from '../../../src/tasks/db/task-file.ts'
import type { NewCreation } from '../../../src/tasks/db/video/creation.ts'
import { makeNotifier } from '../../../src/platform/domain/notifier.ts'
import { DELIVERY_SCHEDULE } from '../../../src/events/domain/delivery-schedule.ts'
import type { DeliverySchedule } from '../../../src/events/domain/delivery-schedule.ts'
import { startDelivery } from '../../../src/events/temporal/start-delivery.ts'
import { makeStartOf } from '../../../src/tasks/temporal/task.ts'
import { makeLog } from '../../../src/platform/log.ts'
import { makeAdmissionPass } from '../../../src/tasks/admission-pass.ts'
import { makeInspector } from '../../support/inspector.ts'
import { PATIENCE_MS } from '../../support/patience.ts'
import { makePicture } from '../../support/pictures.ts'
import { createDatabase, type TestDatabase } from '../../support/stack.ts'
import { insertNewTask } from '../../support/task-rows.ts'
import { use } from '../../support/use.ts'
import { waitFor } from '../../support/wait.ts'

/** A database, a store and what a media worker needs beside, for one test file. */
export type Place = Awaited<ReturnType<typeof makePlace>>

export const makePlace = async () => {
  const root = await mkdtemp(join(tmpdir(), 'kiln-activities-'))
  const database = await createDatabase()
  const storage = makeLocalStorage({ root: join(root, 'store') })
  /** Rows of the outbox that would be dispatched to Temporal at once. */
  const dispatched: OutboxRow[] = []
  const limits = { maxBytes: 1e6, timeoutMs: PATIENCE_MS, maxRedirects: 0 }
  const deps: MediaDependencies & CoreDependencies & FirstAttemptDependencies = {
    sql: database.sql,
    storage,
    log: makeLog('test', 'silent'),
    notifyChange: () => {},
    retentionDays: 30,
    slots: 2,
    jobs: { dispatchNow: (row) => dispatched.push(row) },
    engine: makeEngine(writeResult),
    inspector: await makeInspector(),
    findLicenseId: makeLicenseFinder(),
    outbound: makeOutbound({ allowLoopback: true, ports: [], deny: [] }),
    scratchDir: await storage.scratchDir('render'),
    limits: { maxPixels: 1e6, image: limits, watermark: limits, video: limits },
    videoEngine: NO_VIDEO_ENGINE,
    tinyVideos: true,
    startOf,
    announceEvent: () => {},
    notifier: makeNotifier(),
    startDelivery: (task) => startDelivery(task, { taskQueue: 'kiln' }),
    signer: makeSigner({
      keys: [randomBytes(32).toString('base64')],
      publicUrl: 'https://kiln.example.com',
      linkSeconds: 86_400,
    }),
    attemptSlots: makeAttemptSlots(),
    webhookSecrets: { active: () => Promise.resolve([WEBHOOK_SECRET]) },
    endpointHeaders: { decrypt: (encrypted) => ({ 'x-test': encrypted }) },
    delivery: { schedule: SHORT_SCHEDULE, deferSeconds: 0.01, limits: PATIENT_LIMITS },
    random: () => 0.5,
    now: () => new Date(),
  }
  return {
    deps,
    dispatched,
    database,
    root,
    close: async () => {
      await database.drop()
      await rm(root, { recursive: true })
    },
  }
}

/** Makes a place before the first test of a file or a suite, prepares it, and closes it after the last. */
export const usePlace = (prepare?: (place: Place) => Promise<void>): Place =>
  use(
    async () => {
      const place = await makePlace()
      await prepare?.(place)
      return place
    },
    async ({ deps, close }) => {
      const left = await readdir(deps.scratchDir)
      await close()
      assert.deepEqual(left, [], 'folders of attempts are gone')
    },
  )

export const WEBHOOK_SECRET = makeWebhookSecret()

/** Limits of an attempt whose receiver a test may hold, on a machine that may be slow. */
export const PATIENT_LIMITS: PostLimits = {
  ...POST_LIMITS,
  connectMs: PATIENCE_MS,
  headersMs: PATIENCE_MS,
  totalMs: PATIENCE_MS,
}

/** The real schedule, a thousand times as fast. */
export const SHORT_SCHEDULE: DeliverySchedule = {
  ...DELIVERY_SCHEDULE,
  steps: DELIVERY_SCHEDULE.steps.map((step) => step / 1000),
  busySeconds: 0.06,
  retryAfterSeconds: 3.6,
}

const NO_VIDEO_ENGINE: VideoEngine = {
  name: 'none',
  render: () => Promise.reject(new Error('this test renders no video')),
  probeSource: () => Promise.reject(new Error('this test reads no video')),
}

/** Work of a test's engine on a job: a small function with the engine's own contract. */
export type Work = (job: ImageJob, control: RenderControl) => Promise<void>

/** An engine whose result is the same small picture each time, once its work is done. */
export const makeEngine = (work: Work): ImageEngine => ({
  name: 'test',
  close: () => Promise.resolve(),
  render: async (job, control) => {
    await work(job, control)
    const file = join(job.scratchDir, 'out.png')
    await writeFile(file, await makePicture({ shade: 5 }))
    return [{ file, contentType: 'image/png', extension: 'png', width: 16, height: 16 }]
  },
})

/** Waits for the end of its signal, and fails with its reason. */
export const untilAborted = (_job: unknown, { signal }: { signal: AbortSignal }): Promise<never> =>
  new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason))
  })

/** Failures of an activity after which it is tried again, or not. */
export const again = (type: string) => ({ name: 'ApplicationFailure', type, nonRetryable: false })
export const forGood = (type: string) => ({ name: 'ApplicationFailure', type, nonRetryable: true })

/** Cancels a run of an activity as its workflow does. */
export const cancelRun = (environment: MockActivityEnvironment): void =>
  environment.cancel('CANCELLED', new ActivityCancellationDetails({ cancelRequested: true }))

/** Ends a run of an activity as its worker does that stops. */
export const stopRun = (environment: MockActivityEnvironment): void =>
  environment.cancel('WORKER_SHUTDOWN', new ActivityCancellationDetails({ workerShutdown: true }))

const writeResult: Work = (_job, { onProgress }) => {
  onProgress(50)
  return Promise.resolve()
}

/** Inserts an upscale task whose image is a stored picture, unless another one is given. */
export const insertTask = async (
  { deps, root }: Pick<Place, 'deps' | 'root'>,
  input: Partial<NewTaskInput> = {},
): Promise<string> => {
  const id = randomUUID()
  const storageKey = `inputs/${id}/image.png`
  const path = join(root, randomUUID())
  await writeFile(path, await makePicture())
  await deps.storage.putFile(storageKey, path)
  const given = input.url === undefined ? { storageKey } : {}
  const inputs = [{ field: 'image', name: 'input-image.png', ...given, ...input }]
  const settings = { scale_factor: '2x' }
  return await deps.sql.begin((sql) => insertNewTask(sql, { id, settings, inputs }))
}

/** Neither is over while a test lasts: no attempt is lost because a machine is slow. */
export const TIMING = { heartbeatSeconds: PATIENCE_MS / 1000, deadlineSeconds: PATIENCE_MS / 1000 }

/** Makes rows of the outbox as a service with these timings does. */
export const startOf = makeStartOf({
  taskQueue: 'kiln',
  timing: TIMING,
  videoTiming: { ...TIMING, offPeakSeconds: 172_800 },
})

/** Number of the admission that a task has. */
export const admissionOf = async (sql: Sql, id: string): Promise<number> => {
  const [row] = await sql<{ admission: number }[]>`select admission from task where id = ${id}`
  return row?.admission ?? 0
}

/** A finished task, by what it keeps. */
export interface Done {
  fence: number
  results: TaskResult[]
  thumbnail: string | null
  creation: NewCreation | null
}

/** Reads what a task that is done keeps. */
export const findDone = async (sql: Sql, id: string): Promise<Done> => {
  const [row] = await sql<Done[]>`
    select fence, thumbnail,
      (select json_agg(json_build_object('name', name, 'storageKey', storage_key, 'contentType', content_type,
        'bytes', bytes, 'sha256', sha256, 'width', width, 'height', height) order by position)
        from task_result where task_id = task.id) as results,
      (select json_build_object('seconds', seconds, 'fps', fps, 'width', width, 'height', height)
        from creation where task_id = task.id) as creation
    from task where id = ${id}
  `
  if (!row) throw new Error(`no task ${id}`)
  return row
}

export interface AttemptAs<Timing> {
  environment?: MockActivityEnvironment
  timing?: Timing
  /** Number of the admission that its run has; the task's own when absent. */
  admission?: number
  workersLost?: number | undefined
}

/** Makes what runs attempts at image tasks as a worker with this activity does. */
export const makeAttempts = <Deps extends { sql: Sql }>(
  renderOf: (deps: Deps) => RenderActivities['renderImageTask'],
) => {
  /** Runs one attempt; returns how the task stands then. */
  const attempt = async (
    deps: Deps,
    id: string,
    {
      environment = makeEnvironment(),
      timing = TIMING,
      admission,
      workersLost = 0,
    }: AttemptAs<typeof TIMING> = {},
  ): Promise<TaskStanding> =>
    await environment.run<[AttemptOptions], TaskStanding, ReturnType<typeof renderOf>>(
      renderOf(deps),
      {
        taskId: id,
        admission: admission ?? (await admissionOf(deps.sql, id)),
        timing,
        workersLost,
      },
    )

  /** Runs one attempt; returns what the task keeps once it is done, and undefined where it is not. */
  const render = async (
    deps: Deps,
    id: string,
    options?: AttemptAs<typeof TIMING>,
  ): Promise<Done | undefined> => {
    const { state } = await attempt(deps, id, options)
    return state === 'done' ? await findDone(deps.sql, id) : undefined
  }

  /** Renders until the task ends, as its workflow repeats attempts. */
  const renderToEnd = async (deps: Deps, id: string): Promise<Done | undefined> => {
    for (;;)
      try {
        return await render(deps, id)
      } catch (error) {
        if ((error as { nonRetryable?: boolean }).nonRetryable !== false) throw error
      }
  }

  /** Begins an attempt, and stops its worker once it runs. */
  const renderAndStop = async (deps: Deps, id: string, runs: () => unknown): Promise<void> => {
    const environment = makeEnvironment()
    const stopped = assert.rejects(render(deps, id, { environment }), again('worker_stopped'))
    await waitFor('it runs', runs)
    stopRun(environment)
    await stopped
  }

  return { attempt, render, renderToEnd, renderAndStop }
}

export const { attempt: attemptImage, render } = makeAttempts((deps: MediaDependencies) =>
  makeRenderImageTask(deps, makeLocalImages(deps)),
)

/** Dependencies whose attempts are lost once their files are in the store. */
export const losing = <Deps extends Pick<MediaDependencies, 'storage'>>(deps: Deps): Deps => ({
  ...deps,
  storage: {
    ...deps.storage,
    async putFiles(...given: Parameters<typeof deps.storage.putFiles>) {
      await deps.storage.putFiles(...given)
      throw new Error('its worker is lost')
    },
  },
})

/** Workflows that rows of the outbox start. */
export const listWoken = (rows: readonly OutboxRow[] = []): string[] =>
  rows.flatMap(({ kind, workflowId }) => (kind === 'signal' ? [] : workflowId))

/** Makes a pass of an api: it returns in how many milliseconds it comes back, whose workflows it starts, and what it notifies of. */
export const makePass = ({ deps }: Pick<Place, 'deps'>, slots = 1) => {
  const enqueued: OutboxRow[] = []
  const notified: string[] = []
  const jobs = { dispatchNow: (row: OutboxRow) => enqueued.push(row) }
  const notifyChange = (id: string) => void notified.push(id)
  const pass = makeAdmissionPass({ sql: deps.sql, jobs, notifyChange, slots, startOf })
  return async () => {
    const waitMs = await pass(new AbortController().signal)
    const started = listWoken(enqueued.splice(0))
    return { waitMs, started, notified: notified.splice(0) }
  }
}

/** Admits what nothing blocks any more, and one task that tries a half-open breaker, as an api does. */
export const admit = async ({ deps }: Pick<Place, 'deps'>): Promise<void> =>
  void (await makeAdmissionPass(deps)(new AbortController().signal))

/** A database that has something else happen in place of, or before, the statements with a text. */
export const intercept = (sql: Sql, part: string, act: (run: () => unknown) => unknown): Sql =>
  new Proxy(sql, {
    apply: (target, self, [text, ...values]: [TemplateStringsArray]) => {
      const run = (): unknown => Reflect.apply(target, self, [text, ...values])
      return text.join().includes(part) ? act(run) : run()
    },
  })

/** One run of an activity, without the SDK's own word on every failure. */
export const makeEnvironment = (
  info: ConstructorParameters<typeof MockActivityEnvironment>[0] = {},
): MockActivityEnvironment =>
  new MockActivityEnvironment(info, { logger: new DefaultLogger('ERROR', () => {}) })

export interface Seen {
  status: string
  waits_on: string | null
  admission: number
  fence: number
  failures: number
  error_code: string | null
  events: string[]
}

/** A task and its events as the database has them. */
export const see = async ({ sql }: TestDatabase, id: string): Promise<Seen> => {
  const [row] = await sql<Seen[]>`
    select status, waits_on, admission, fence, failures, error_code,
      array(select e.status from event e where e.task_id = task.id order by sequence) as events
    from task
    where id = ${id}
  `
  if (!row) throw new Error(`no task ${id}`)
  return row
}
