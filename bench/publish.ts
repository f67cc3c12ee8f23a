import { loadavg } from 'node:os'

import { startService } from '../test/support/service.ts'
import { makeKilnPublish } from './publish/kiln.ts'
import { makeArchive, makeTarget } from './publish/target.ts'
import { at, median, say, showResult, showSpread } from './support/results.ts'
import { withServers } from '../test/support/keep.ts'
import { timesOf } from './support/lanes.ts'
import { DEFAULTS } from './support/settings.ts'

const ROUNDS = Number(process.env['ROUNDS'] ?? 3)
/** A quick look: `SIZES=100kB npm run bench -- publish`. */
const CHOSEN = process.env['SIZES'] ?? '100kB,5MB,50MB'

/** Archives, and how many publications of each a round has with one caller and with eight. */
const SIZES = [
  { name: '100kB', bytes: 100_000, each: { 1: 24, 8: 48 } },
  { name: '5MB', bytes: 5_000_000, each: { 1: 10, 8: 24 } },
  { name: '50MB', bytes: 50_000_000, each: { 1: 3, 8: 8 } },
] as const

/** A publication alone, and the slowest of eight at once on two cores. */
const AIMS_MS = { p50: 250, p99: 500 }

/**
 * Milliseconds from POST of a publication through PUT of its archive to the GET that shows it Active, one and eight at a
 * time: the middle and the 99th percentile (of so few, the slowest), each the middle of three rounds.
 */
export const run = async (): Promise<void> =>
  await withServers(async (keep) => {
    const service = keep(await startService({ env: { ...DEFAULTS, PUBLISH_AUTH: 'token' } }))
    const { publishOnce } = keep(await makeKilnPublish(service, await makeTarget(service)))
    say(`load of the machine before: ${(loadavg()[0] ?? 0).toFixed(1)}`)
    for (const { name, bytes, each } of SIZES.filter(({ name }) => CHOSEN.includes(name))) {
      const archive = makeArchive(bytes)
      for (const lanes of [1, 8] as const) {
        const rounds: number[][] = []
        // The first round warms up.
        for (let round = 0; round <= ROUNDS; round += 1)
          rounds.push(
            await timesOf(round === 0 ? lanes : each[lanes], lanes, (index, lane) => {
              // Each lane has a node of its own: two publications of one node would wait for each other.
              const nodeId = `node-${name}-${lanes}-${lane}`
              return publishOnce(archive, { nodeId, version: `1.${round}.${index}` })
            }),
          )
        show(`${name}.${lanes}`, rounds.slice(1))
      }
    }
  })

const show = (name: string, rounds: readonly number[][]): void => {
  for (const result of ['p50', 'p99'] as const) {
    const share = Number(result.slice(1)) / 100
    const times = rounds.map((round) => at(round, share))
    showSpread(`${name}, POST to Active, ${result}`, times, 'ms')
    showResult(`publish.${name}.${result}`, median(times), { unit: 'ms', atMost: AIMS_MS[result] })
  }
}
