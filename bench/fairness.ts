import { startService } from '../test/support/service.ts'
import { say, showFigure, showSpread, spread } from './support/figures.ts'
import { inLanes, latencyOf } from './support/lanes.ts'
import { relight, startTaskClient } from './support/task-client.ts'
import type { TaskClient, TaskOrder } from './support/task-client.ts'
import { withServers } from './support/with-servers.ts'

const ROUNDS = 3
const QUEUED = 100
/** Of each of the other two owners, one after another. */
const SINGLES = 6
const OTHERS = ['bo', 'cy']

/**
 * Three owners share two slots for renders. The time from request to result of two of them, who have one task each at a
 * time, beside the third, who has a hundred queued, and without.
 */
export const run = async (): Promise<void> =>
  await withServers(async (keep) => {
    const service = keep(
      await startService({
        env: { HEARTBEAT_SECONDS: '10', MEDIA_SLOTS: '2', RATE_LIMITS: 'off' },
      }),
    )
    const tasks = keep(await startTaskClient(service))
    const order = await relight({ width: 1000, height: 1000 })
    await tasks.run(order)
    const times: Record<'alone' | 'beside', number[]> = { alone: [], beside: [] }
    for (let round = 1; round <= ROUNDS; round += 1) {
      times.alone.push(await timeOfOthers(tasks, order))
      let ended = 0
      const queued = inLanes(QUEUED, QUEUED, async () => {
        await tasks.run(order)
        ended += 1
      })
      times.beside.push(await timeOfOthers(tasks, order))
      say(
        `round ${round} of ${ROUNDS}: ${QUEUED - ended} of ${QUEUED} were still queued or rendered`,
      )
      await queued
    }
    showSpread('request to result, two owners, p50', times.alone, 'ms')
    showSpread(`the same beside ${QUEUED} of a third owner`, times.beside, 'ms')
    // Each of three owners gets a third of two slots; two of them had one each.
    const ratio = spread(times.beside).median / spread(times.alone).median
    showFigure('fairness.beside-queue', ratio, { unit: 'x', aim: 3, atMost: true })
  })

const timeOfOthers = async (tasks: TaskClient, order: TaskOrder): Promise<number> => {
  const each = OTHERS.map((owner) => latencyOf(SINGLES, () => tasks.run({ ...order, owner })))
  return spread(await Promise.all(each)).max
}
