import { randomUUID } from 'node:crypto'

import type { Connection, WorkflowHandle } from '@temporalio/client'
import { NativeConnection, Worker } from '@temporalio/worker'

import type { MediaActivities } from '../../activities/index.ts'
import { makeDatabase } from '../../src/db/client.ts'
import type { OutboxStart } from '../../src/db/outbox.ts'
import { makeJobs, mediaQueue, startImageTask, startVideoTask } from '../../src/jobs.ts'
import { makeLog } from '../../src/log.ts'
import { makeImageActivities } from './image-scenarios.ts'
import type { ImageScenario } from './image-scenarios.ts'
import type { Runs } from './runs.ts'
import type { Circumstances } from './scenarios.ts'
import { makeVideoActivities } from './video-scenarios.ts'
import type { VideoScenario } from './video-scenarios.ts'

export interface RunnerOptions {
  address: string
  connection: Connection
  /** Path of the workflow bundle. */
  codePath: string
  taskQueue: string
  identity: string
}

/** One finished run and the moves it asked for. */
export interface Run {
  handle: WorkflowHandle
  moves: unknown[][]
}

interface Facts {
  owner: string
  kind: string
}

/** Starts a task's workflow as the api does and drives it to its end with the functions of a scenario. */
export interface Runner {
  image(scenario: ImageScenario, facts?: Facts): Promise<Run>
  video(scenario: VideoScenario, facts?: Facts & { offPeak?: boolean }): Promise<Run>
  stop(): Promise<void>
}

const TIMING = { heartbeatSeconds: 1, deadlineSeconds: 60 }
const VIDEO_TIMING = { ...TIMING, offPeakSeconds: 60 }

/** Starts a worker for workflows and moves and one for rendering, whose activities are those of the scenario of each run. */
export const startRunner = async (options: RunnerOptions): Promise<Runner> => {
  const images: Runs<ImageScenario> = new Map()
  const videos: Runs<VideoScenario> = new Map()
  const workers = await startWorkers(options, images, videos)
  const client = makeClient(options)

  const drive = async (start: OutboxStart, { act }: Circumstances): Promise<WorkflowHandle> => {
    await client.dispatch({ ...start, id: '0', tries: 0 })
    const handle = client.getHandle(start.workflowId)
    await act?.(handle)
    await handle.result()
    return handle
  }
  const queueOf = ({ noMediaWorker }: Circumstances): string =>
    noMediaWorker ? lone(options.taskQueue) : options.taskQueue

  return {
    stop: workers.stop,
    async image(scenario, { owner, kind } = { owner: 'alice', kind: 'relight' }) {
      const { taskId, moves } = add(images, scenario)
      const facts = {
        taskId,
        owner,
        kind,
        summary: `${kind} 16×16 for ${owner}`,
        hasReceiver: false,
      }
      const start = startImageTask(facts, { taskQueue: queueOf(scenario), timing: TIMING })
      return { handle: await drive(start, scenario), moves }
    },
    async video(scenario, { offPeak = false, ...given } = { owner: 'alice', kind: 'text2video' }) {
      const { taskId, moves } = add(videos, scenario)
      const facts = {
        taskId,
        offPeak,
        ...given,
        summary: `${given.kind} for ${given.owner}`,
        hasReceiver: false,
      }
      const options = { taskQueue: queueOf(scenario), videoTiming: VIDEO_TIMING }
      return { handle: await drive(startVideoTask(facts, options), scenario), moves }
    },
  }
}

const add = <Scenario>(runs: Runs<Scenario>, scenario: Scenario) => {
  const taskId = randomUUID()
  const moves: unknown[][] = []
  runs.set(taskId, { scenario, moves })
  return { taskId, moves }
}

/** Queue of the runs that no media worker renders. */
const lone = (taskQueue: string): string => `${taskQueue}-lone`

const makeClient = ({ connection }: RunnerOptions) => {
  // Starting a workflow touches no row: nothing ever connects.
  const sql = makeDatabase({ url: 'postgres://unused', pool: 1, name: '', statementTimeoutMs: 0 })
  const log = makeLog('test', 'silent')
  const { client, dispatch } = makeJobs({ connection, namespace: 'default', sql, log })
  return { dispatch, getHandle: (id: string) => client.workflow.getHandle(id) }
}

const startWorkers = async (
  { address, codePath, taskQueue, identity }: RunnerOptions,
  images: Runs<ImageScenario>,
  videos: Runs<VideoScenario>,
): Promise<{ stop: () => Promise<void> }> => {
  const connection = await NativeConnection.connect({ address })
  const [image, video] = [makeImageActivities(images), makeVideoActivities(videos)]
  const common = { connection, identity }
  const core = {
    ...common,
    workflowBundle: { codePath },
    activities: { ...image.core, ...video.core },
  }
  const workers = await Promise.all([
    Worker.create({ ...core, taskQueue }),
    Worker.create({ ...core, taskQueue: lone(taskQueue) }),
    Worker.create({
      ...common,
      taskQueue: mediaQueue(taskQueue),
      activities: { ...image.media, ...video.media } satisfies MediaActivities,
      maxHeartbeatThrottleInterval: '100 milliseconds',
      defaultHeartbeatThrottleInterval: '100 milliseconds',
    }),
  ])
  const running = workers.map((worker) => worker.run())
  return {
    stop: async () => {
      for (const worker of workers) worker.shutdown()
      await Promise.all(running)
      await connection.close()
    },
  }
}
