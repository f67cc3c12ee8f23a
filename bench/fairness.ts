import { startService } from '../test/support/service.ts'
import { say, showRatio, showSpread, spread } from './support/figures.ts'
import { withServers } from './support/keep.ts'
import { inLanes, inTurns, latencyOf } from './support/lanes.ts'
import { DEFAULTS } from './support/settings.ts'
import { relight, startTaskClient } from './support/task-client.ts'

const ROUNDS = Number(process.env['ROUNDS'] ?? 3)
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
    const env = { ...DEFAULTS, MEDIA_SLOTS: '2' }
    const tasks = keep(await startTaskClient(keep(await startService({ env }))))
    const order = await relight({ width: 1000, height: 1000 })
    await tasks.run(order)
    const timeOthers = async (): Promise<number> => {
      const each = OTHERS.map((owner) => latencyOf(SINGLES, () => tasks.run({ ...order, owner })))
      return spread(await Promise.all(each)).max
    }
    const times = await inTurns(ROUNDS, {
      alone: timeOthers,
      beside: async () => {
        let ended = 0
        const queued = inLanes(QUEUED, QUEUED, async () => {
          await tasks.run(order)
          ended += 1
        })
        const time = await timeOthers()
        say(`${QUEUED - ended} of ${QUEUED} were still queued or rendered`)
        await queued
        return time
      },
    })
    showSpread('request to result, two owners, p50', times.alone, 'ms')
    showSpread(`the same beside ${QUEUED} of a third owner`, times.beside, 'ms')
    // Each of three owners gets a third of two slots; two of them had one each.
    showRatio('fairness.beside-queue', [times.beside, times.alone], { atMost: 3 })
  })
