import { startWebhookReceiver } from '../test/support/receiver.ts'
import { startService } from '../test/support/service.ts'
import { startBare } from './support/bare-task.ts'
import { say, showFigure, showSpread, spread } from './support/figures.ts'
import { latencyOf, rateOf } from './support/lanes.ts'
import { relight, startTaskClient } from './support/task-client.ts'
import { withServers } from './support/with-servers.ts'

const ROUNDS = 5
const TASKS = 200
const IN_FLIGHT = 20
const SINGLES = 20

/** Does one task from its start to its known end. */
type RunTask = () => Promise<void>

/**
 * POST → COMPLETED against a bare workflow of the same shape, on the same servers: throughput with 20 in flight, and
 * latency one at a time. The end of our task is the row that a reader sees; the end of a bare workflow is its result.
 */
export const run = async (): Promise<void> =>
  await withServers(async (keep, servers) => {
    const service = keep(
      await startService({ env: { HEARTBEAT_SECONDS: '10', RELAY_INTERVAL_MS: '1000' } }),
    )
    const kiln = keep(await startTaskClient(service))
    const bare = keep(await startBare(servers.env.TEST_TEMPORAL_ADDRESS))
    const order = await relight()
    const receiver = keep(await startWebhookReceiver())
    await measure({
      kiln: () => kiln.run(order),
      told: () => kiln.runTold(order, receiver),
      bare: bare.runTask,
    })
  })

const measure = async ({ kiln, told, bare }: Record<'kiln' | 'told' | 'bare', RunTask>) => {
  for (const runTask of [kiln, told, bare]) await rateOf(40, IN_FLIGHT, runTask)
  const rates: Record<'kiln' | 'told' | 'bare', number[]> = { kiln: [], told: [], bare: [] }
  const latencies: Record<'kiln' | 'bare', number[]> = { kiln: [], bare: [] }
  for (let round = 1; round <= ROUNDS; round += 1) {
    rates.bare.push(await rateOf(TASKS, IN_FLIGHT, bare))
    rates.kiln.push(await rateOf(TASKS, IN_FLIGHT, kiln))
    rates.told.push(await rateOf(TASKS, IN_FLIGHT, told))
    latencies.bare.push(await latencyOf(SINGLES, bare))
    latencies.kiln.push(await latencyOf(SINGLES, kiln))
    say(`round ${round} of ${ROUNDS}`)
  }
  showSpread('bare workflow, 20 in flight', rates.bare, 'tasks/s')
  showSpread('POST to COMPLETED, 20 in flight', rates.kiln, 'tasks/s')
  showSpread('POST to COMPLETED at its receiver, 20 in flight', rates.told, 'tasks/s')
  showSpread('bare workflow, one at a time, p50', latencies.bare, 'ms')
  showSpread('POST to COMPLETED, one at a time, p50', latencies.kiln, 'ms')
  const ratio = spread(rates.kiln).median / spread(rates.bare).median
  showFigure('tasks.throughput', ratio, { unit: 'x', aim: 0.8, atMost: false })
  const withReceiver = spread(rates.told).median / spread(rates.kiln).median
  showFigure('tasks.told', withReceiver, { unit: 'x', aim: 0.8, atMost: false })
  const slower = spread(latencies.kiln).median / spread(latencies.bare).median
  showFigure('tasks.latency', slower, { unit: 'x', aim: 1.3, atMost: true })
}
