import { OperatorError } from '../platform/process/operator-error.ts'
import { withinDeadline, type Sql } from '../platform/db/client.ts'
import type { QueueFacts } from '../platform/temporal/queues.ts'
import { listEngines } from '../engines/db/fleet.ts'
import { hasOpenVersion } from '../registry/db/open-version.ts'
import { listUnclaimed, listWaiting } from '../tasks/db/admission.ts'
import { listEndedWorkers, readWorkers } from '../tasks/db/worker.ts'
import { adviseEngineWorker, START_CORE, START_MEDIA } from '../tasks/domain/worker-advice.ts'

/** Throws an OperatorError unless workers live that serve all work that is open. */
export const probeWorkers = async (sql: Sql): Promise<void> => {
  const [{ roles, engines }, waiting, unclaimed, areVersionsOpen] = await withinDeadline(
    sql,
    Promise.all([readWorkers(sql), listWaiting(sql), listUnclaimed(sql), hasOpenVersion(sql)]),
  )
  const needed = new Set([...waiting, ...unclaimed].map(({ engine }) => engine))
  const unserved = [...needed].filter((engine) => !engines.includes(engine)).toSorted()
  const isAnyOpen = areVersionsOpen || needed.size > 0
  const missing = [
    ...(isAnyOpen && !roles.includes('core') ? ['core'] : []),
    ...(areVersionsOpen && !roles.includes('media') ? ['media'] : []),
  ]
  const advice = new Set([
    ...missing.map((role) => (role === 'core' ? START_CORE : START_MEDIA)),
    ...unserved.map(adviseEngineWorker),
  ])
  if (advice.size === 0) return
  const ended = await listEndedWorkers(sql)
  const last = [
    ...missing.map((role) => ended.find((worker) => worker.role === role)),
    ...unserved.map((engine) => ended.find(({ engines }) => engines.includes(engine))),
  ].flatMap((worker) => (worker ? `${worker.identity} (until ${worker.until})` : []))
  const was = last.length > 0 ? `; the last was ${[...new Set(last)].join(', ')}` : ''
  throw new OperatorError(
    [
      ...(missing.length > 0
        ? [`no ${missing.join(' and no ')} worker lives, and work waits`]
        : []),
      ...(unserved.length > 0
        ? [`no worker serves the engine ${unserved.join(', ')}, and tasks wait`]
        : []),
    ].join('; ') + `: ${[...advice].join('; ')}${was}`,
  )
}

/** Reads what the rows know of queues: engines that have their own, and workers that Temporal still names and that have ended. */
export const readQueueFacts = async (sql: Sql): Promise<QueueFacts> => {
  const [engines, { gone }] = await withinDeadline(
    sql,
    Promise.all([listEngines(sql), readWorkers(sql)]),
  )
  return { engines, gone }
}
