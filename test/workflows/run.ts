import { randomUUID } from 'node:crypto'

import { Context } from '@temporalio/activity'
import type { Connection, WorkflowHandle } from '@temporalio/client'
import { NativeConnection, Worker } from '@temporalio/worker'

import type { CoreActivities, MediaActivities } from '../../activities/index.ts'
import { makeDatabase } from '../../src/db/client.ts'
import { makeJobs, mediaQueue, startImageTask } from '../../src/jobs.ts'
import { makeLog } from '../../src/log.ts'
import type { Scenario } from './scenarios.ts'

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

export interface Runner {
  /** Starts an image task's workflow as the api does and drives it to its end with the functions of a scenario. */
  run(scenario: Scenario, facts?: { owner: string; kind: string }): Promise<Run>
  stop(): Promise<void>
}

interface Running {
  scenario: Scenario
  moves: unknown[][]
}

/** Starts a worker for workflows and moves and one for rendering, whose activities are those of the scenario of each run. */
export const startRunner = async (options: RunnerOptions): Promise<Runner> => {
  const runs = new Map<string, Running>()
  const { native, stop } = await startWorkers(options, runs)
  // Starting a workflow touches no row: nothing ever connects.
  const sql = makeDatabase({ url: 'postgres://unused', pool: 1, name: '', statementTimeoutMs: 0 })
  const log = makeLog('test', 'silent')
  const jobs = makeJobs({ connection: options.connection, namespace: 'default', sql, log })
  return {
    stop: async () => {
      await stop()
      await native.close()
    },
    async run(scenario, { owner, kind } = { owner: 'alice', kind: 'relight' }) {
      const running = { scenario, moves: [] }
      const taskId = randomUUID()
      runs.set(taskId, running)
      const taskQueue = scenario.noMediaWorker ? `${options.taskQueue}-lone` : options.taskQueue
      const start = startImageTask(
        { taskId, owner, kind, summary: `${kind} 16×16 for ${owner}` },
        { taskQueue, timing: { heartbeatSeconds: 1, deadlineSeconds: 60 } },
      )
      await jobs.dispatch({ ...start, id: '0', tries: 0 })
      const handle = jobs.client.workflow.getHandle(start.workflowId)
      await scenario.act?.(handle)
      await handle.result()
      return { handle, moves: running.moves }
    },
  }
}

const startWorkers = async (
  { address, codePath, taskQueue, identity }: RunnerOptions,
  runs: Map<string, Running>,
): Promise<{ native: NativeConnection; stop: () => Promise<void> }> => {
  const native = await NativeConnection.connect({ address })
  const common = { connection: native, identity }
  const core = { ...common, workflowBundle: { codePath }, activities: makeMoves(runs) }
  const workers = await Promise.all([
    Worker.create({ ...core, taskQueue }),
    Worker.create({ ...core, taskQueue: `${taskQueue}-lone` }),
    Worker.create({
      ...common,
      taskQueue: mediaQueue(taskQueue),
      activities: makeRender(runs),
      maxHeartbeatThrottleInterval: '100 milliseconds',
      defaultHeartbeatThrottleInterval: '100 milliseconds',
    }),
  ])
  const running = workers.map((worker) => worker.run())
  return {
    native,
    stop: async () => {
      for (const worker of workers) worker.shutdown()
      await Promise.all(running)
    },
  }
}

const makeRender = (runs: Map<string, Running>): MediaActivities => ({
  renderImageTask: (taskId, timing) => get(runs, taskId).scenario.render(taskId, timing),
})

const makeMoves = (
  runs: Map<string, Running>,
): Pick<CoreActivities, 'completeImageTask' | 'failImageTask'> => ({
  async completeImageTask(taskId, rendered) {
    const { scenario, moves } = get(runs, taskId)
    moves.push(['complete', rendered])
    if (scenario.complete) return await scenario.complete(taskId, rendered)
    return rendered ? 'COMPLETED' : 'FAILED'
  },
  async failImageTask(taskId, reason) {
    get(runs, taskId).moves.push(['fail', reason])
    return 'FAILED'
  },
})

const get = (runs: Map<string, Running>, taskId: string): Running => {
  const found = runs.get(taskId)
  if (found) return found
  throw new Error(`${Context.current().info.activityType} of a task that no run has`)
}
