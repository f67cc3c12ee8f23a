import { startWebhookReceiver } from '../test/support/receiver.ts'
import { startService } from '../test/support/service.ts'
import { startBareTasks } from './support/bare-task.ts'
import { showRatio, showSpread } from './support/results.ts'
import { withServers } from '../test/support/keep.ts'
import { inTurns, latencyOf, rateOf } from './support/lanes.ts'
import { DEFAULTS } from './support/settings.ts'
import { relight, startTaskClient } from './support/task-client.ts'

const ROUNDS = Number(process.env['ROUNDS'] ?? 5)
const TASKS = Number(process.env['TASKS'] ?? 200)
const IN_FLIGHT = 20
const SINGLES = 20

/**
 * POST → COMPLETED against a bare workflow of the same shape, on the same servers: throughput with 20 in flight, and
 * latency one at a time. The end of our task is the row that a reader sees; the end of a bare workflow is its result.
 */
export const run = async (): Promise<void> =>
  await withServers(async (keep, servers) => {
    const kiln = keep(await startTaskClient(keep(await startService({ env: DEFAULTS }))))
    const bare = keep(await startBareTasks(servers.env.TEST_TEMPORAL_ADDRESS))
    const order = await relight()
    const receiver = keep(await startWebhookReceiver())
    const runKiln = () => kiln.run(order)
    const runNotified = () => kiln.runNotified(order, receiver)
    const ways = {
      bare: () => rateOf(TASKS, IN_FLIGHT, bare.runTask),
      kiln: () => rateOf(TASKS, IN_FLIGHT, runKiln),
      notified: () => rateOf(TASKS, IN_FLIGHT, runNotified),
    }
    const rates = await inTurns(ROUNDS, ways, 1)
    const latencies = await inTurns(ROUNDS, {
      bare: () => latencyOf(SINGLES, bare.runTask),
      kiln: () => latencyOf(SINGLES, runKiln),
    })
    showSpread('bare workflow, 20 in flight', rates.bare, 'tasks/s')
    showSpread('POST to COMPLETED, 20 in flight', rates.kiln, 'tasks/s')
    showSpread('POST to COMPLETED at its receiver, 20 in flight', rates.notified, 'tasks/s')
    showSpread('bare workflow, one at a time, p50', latencies.bare, 'ms')
    showSpread('POST to COMPLETED, one at a time, p50', latencies.kiln, 'ms')
    showRatio('tasks.throughput', [rates.kiln, rates.bare], { atLeast: 0.8 })
    showRatio('tasks.notified', [rates.notified, rates.kiln], { atLeast: 0.8 })
    showRatio('tasks.latency', [latencies.kiln, latencies.bare], { atMost: 1.3 })
  })
