import { randomUUID } from 'node:crypto'

import { WorkflowFailedError, type Connection, type WorkflowHandle } from '@temporalio/client'

import type { MediaActivities } from '../support/media.ts'
import { makeDatabase } from '../../src/platform/db/client.ts'
import type { OutboxStart } from '../../src/platform/db/outbox.ts'
import type { BulkKind } from '../../src/tasks/domain/bulk/bulk.ts'
import type { TaskFamily } from '../../src/platform/domain/task-scope.ts'
import { startDelivery, startRedelivery } from '../../src/events/temporal/start-delivery.ts'
import { makeJobs } from '../../src/platform/temporal/client.ts'
import { bulkQueue, mediaQueue } from '../../src/platform/temporal/start.ts'
import { startBulk } from '../../src/tasks/temporal/bulk.ts'
import { makeStartOf } from '../../src/tasks/temporal/task.ts'
import { startPublishVersion } from '../../src/registry/temporal/version.ts'
import { makeLog } from '../../src/platform/log.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { makeTestBulkActivities, type BulkScenario } from './bulk-scenarios.ts'
import { makeDeliveryActivities, type DeliveryScenario } from './delivery-scenarios.ts'
import { onceEach, type Runs } from './runs.ts'
import { PROMPT_HEARTBEATS, startWorkers } from './runtime.ts'
import type { Admit, Circumstances } from './scenarios.ts'
import { makeTaskActivities, type TaskScenario } from './task-scenarios.ts'
import { makeVersionActivities, type VersionScenario } from './version-scenarios.ts'

export interface RunnerOptions {
  address: string
  connection: Connection
  /** Path of the workflow bundle. */
  codePath: string
  taskQueue: string
  identity: string
  /** Renders at once; absent: as many as there are. */
  mediaSlots?: number | undefined
}

/** One finished run and the moves it asked for. */
export interface Run {
  handle: WorkflowHandle
  calls: unknown[][]
}

interface TaskFacts {
  owner?: string
  kind?: string
  offPeak?: boolean
}

/** Starts the workflow of a task or version as the api does and drives it to its end with the functions of a scenario. */
export interface Runner {
  task(family: TaskFamily, scenario: TaskScenario, facts?: TaskFacts): Promise<Run>
  bulk(kind: BulkKind, scenario: BulkScenario): Promise<Run>
  /** As the outbox starts it: with a signal. */
  deliver(scenario: DeliveryScenario): Promise<Run>
  redeliver(scenario: DeliveryScenario): Promise<Run>
  /** One that gives its checks up fails. */
  version(scenario: VersionScenario, facts?: { owner?: string; version?: string }): Promise<Run>
  stop(): Promise<void>
}

const PATIENCE_SECONDS = PATIENCE_MS / 1000
/** A server may give a task to a poll that is over; half of the patience remains for the attempt that follows. */
const timingOf = ({ heartbeatSeconds = PATIENCE_SECONDS / 2 }: Circumstances) => ({
  heartbeatSeconds,
  deadlineSeconds: PATIENCE_SECONDS,
})
const CHECK_TIMING = {
  attempts: 3,
  retrySeconds: 0.01,
  maxRetrySeconds: 0.01,
}

/** Starts a worker for workflows and moves and one for rendering, whose activities are those of the scenario of each run. */
export const startRunner = async (options: RunnerOptions): Promise<Runner> => {
  const tasks: Record<TaskFamily, Runs<TaskScenario>> = { image: new Map(), video: new Map() }
  const deliveries: Runs<DeliveryScenario> = new Map()
  const versions: Runs<VersionScenario> = new Map()
  const bulks: Runs<BulkScenario> = new Map()
  const task = makeTaskActivities(tasks)
  const version = makeVersionActivities(versions)
  const bulk = makeTestBulkActivities(bulks)
  const { address, codePath, identity, taskQueue, mediaSlots } = options
  const core = {
    identity,
    workflowBundle: { codePath },
    activities: onceEach({
      ...task.core,
      ...version.core,
      ...bulk.core,
      ...makeDeliveryActivities(deliveries),
    }),
  }
  const workers = await startWorkers(address, [
    { ...core, taskQueue },
    { ...core, taskQueue: lone(taskQueue) },
    {
      ...PROMPT_HEARTBEATS,
      identity,
      taskQueue: mediaQueue(taskQueue),
      ...(mediaSlots !== undefined && { maxConcurrentActivityTaskExecutions: mediaSlots }),
      activities: { ...task.media, ...version.media } satisfies MediaActivities,
    },
    { identity, taskQueue: bulkQueue(taskQueue), activities: bulk.bulk },
  ])
  const client = makeClient(options)

  const drive = async (
    start: OutboxStart,
    { act }: Circumstances,
    admit: Admit = () => client.dispatch(start),
  ): Promise<WorkflowHandle> => {
    await client.dispatch(start)
    const handle = client.getHandle(start.workflowId)
    await act?.(handle, admit)
    await handle.result()
    return handle
  }
  const queueOf = ({ noMediaWorker }: Circumstances): string =>
    noMediaWorker ? lone(options.taskQueue) : options.taskQueue

  return {
    stop: workers.stop,
    async task(
      family,
      scenario,
      {
        owner = 'alice',
        kind = family === 'image' ? 'relight' : 'text2video',
        offPeak = false,
      } = {},
    ) {
      const { id, calls } = add(tasks[family], scenario)
      const timing = timingOf(scenario)
      const startOf = makeStartOf({
        taskQueue: queueOf(scenario),
        timing,
        videoTiming: { ...timing, offPeakSeconds: PATIENCE_SECONDS },
      })
      const facts = { id, family, kind, owner, account: owner, offPeak, engine: 'local' as const }
      const startAs = (admission: number) => startOf({ ...facts, priority: 0, admission })
      const admit: Admit = (admission) => client.dispatch(startAs(admission))
      return { handle: await drive(startAs(1), scenario, admit), calls }
    },
    async bulk(kind, scenario) {
      const { id, calls } = add(bulks, scenario)
      const start = startBulk({ id, kind, owner: 'alice' }, options)
      return { handle: await drive(start, scenario), calls }
    },
    async deliver(scenario) {
      const { id, calls } = add(deliveries, scenario)
      const facts = { taskId: id, owner: 'alice', kind: 'relight' }
      return { handle: await drive(startDelivery(facts, options), scenario), calls }
    },
    async redeliver(scenario) {
      const { id, calls } = add(deliveries, scenario)
      const start = startRedelivery({ redeliveryId: id, owner: 'alice' }, options)
      return { handle: await drive(start, scenario), calls }
    },
    async version(scenario, { owner = 'alice', version = '1.2.0' } = {}) {
      const { id: versionId, calls } = add(versions, scenario)
      const facts = { versionId, nodeId: 'my-pack', version, publisherId: 'acme', owner }
      const start = startPublishVersion(facts, {
        taskQueue: queueOf(scenario),
        checkTiming: { ...timingOf(scenario), ...CHECK_TIMING },
      })
      const handle = client.getHandle(start.workflowId)
      await drive(start, scenario).catch((error: unknown) => {
        if (!(error instanceof WorkflowFailedError)) throw error
      })
      return { handle, calls }
    },
  }
}

const add = <Scenario>(runs: Runs<Scenario>, scenario: Scenario) => {
  const id = randomUUID()
  const calls: unknown[][] = []
  runs.set(id, { scenario, calls })
  return { id, calls }
}

/** Queue of the runs that no media worker renders. */
const lone = (taskQueue: string): string => `${taskQueue}-lone`

const makeClient = ({ connection }: RunnerOptions) => {
  // Starting a workflow touches no row: nothing ever connects.
  const sql = makeDatabase({ url: 'postgres://unused', pool: 1, name: '', statementTimeoutMs: 0 })
  const log = makeLog('test', 'silent')
  const { client, dispatch } = makeJobs({
    connection,
    namespace: 'default',
    sql,
    log,
    publicUrl: '',
  })
  return {
    dispatch: (start: OutboxStart) => dispatch({ ...start, id: '0', attempts: 0 }),
    getHandle: (id: string) => client.workflow.getHandle(id),
  }
}
