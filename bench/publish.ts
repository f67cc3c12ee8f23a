import { loadavg } from 'node:os'

import { startService } from '../test/support/service.ts'
import { makeKilnPublish } from './publish/kiln.ts'
import { makeRawPublish } from './publish/raw.ts'
import { makeArchive, makeTarget } from './publish/target.ts'
import type { PublishOnce } from './publish/target.ts'
import { at, median, say, showFigure, showSpread } from './support/figures.ts'
import { makeFolder, withServers } from './support/keep.ts'
import { inTurns, timesOf } from './support/lanes.ts'
import { DEFAULTS } from './support/settings.ts'

const ROUNDS = 3
/** A quick look: `SIZES=100kB npm run bench -- publish`. */
const CHOSEN = process.env['SIZES'] ?? '100kB,5MB,50MB'

/** Publications of a round, by the size of the archive in bytes; aims in milliseconds. */
const SIZES = [
  { name: '100kB', bytes: 100_000, each: { 1: 24, 8: 48 } },
  { name: '5MB', bytes: 5_000_000, each: { 1: 10, 8: 24 } },
  { name: '50MB', bytes: 50_000_000, each: { 1: 3, 8: 8 } },
] as const
const LANES = [1, 8] as const

/**
 * What service and Temporal may add: a publication is a workflow with two children, an activity on the media queue and local
 * ones between, three times what an image task is, whose POST to COMPLETED takes 40 ms; eight at once share two cores.
 */
const AIMS_MS = { p50: 250, p99: 500 }

/**
 * From POST of a publication through PUT of its archive to the GET that shows it Active, one and eight at a time, against
 * its steps alone: the same transactions, the same bytes written, synced, hashed, inspected and named, by one process without
 * HTTP and Temporal. What lies between is the price of both. The figures are what they add to the middle and to the 99th
 * percentile of a publication (of so few, the slowest), as the middle of three rounds.
 */
export const run = async (): Promise<void> =>
  await withServers(async (keep) => {
    const storagePath = keep(await makeFolder()).path
    const env = { ...DEFAULTS, PUBLISH_AUTH: 'token' }
    const service = keep(await startService({ env }))
    const target = await makeTarget(service)
    const kiln = keep(await makeKilnPublish(service, target))
    const { sql } = service.database
    const raw = keep(await makeRawPublish(sql, storagePath, target))
    say(`load of the machine before: ${(loadavg()[0] ?? 0).toFixed(1)}`)
    await measure({ kiln: kiln.publishOnce, raw: raw.publishOnce })
  })

/** Milliseconds of the publications of one round. */
interface Times {
  p50: number
  p99: number
}

const measure = async (sides: Record<'kiln' | 'raw', PublishOnce>): Promise<void> => {
  for (const { name, bytes, each } of SIZES.filter(({ name }) => CHOSEN.includes(name))) {
    const archive = makeArchive(bytes)
    for (const lanes of LANES) {
      const publishBy =
        (side: 'kiln' | 'raw') =>
        async (round: number): Promise<Times> => {
          // The first round warms up.
          const times = await timesOf(round === 0 ? lanes : each[lanes], lanes, (index, lane) => {
            // Each lane has a node of its own: two publications of one node would wait for each other.
            const nodeId = `${side}-${name}-${lanes}-${lane}`
            return sides[side](archive, { nodeId, version: `1.${round}.${index}` })
          })
          return { p50: at(times, 0.5), p99: at(times, 0.99) }
        }
      const ways = { raw: publishBy('raw'), kiln: publishBy('kiln') }
      show(`${name}.${lanes}`, await inTurns(ROUNDS, ways, 1))
    }
  }
}

const show = (name: string, { kiln, raw }: Record<'kiln' | 'raw', Times[]>): void => {
  for (const figure of ['p50', 'p99'] as const) {
    const whole = kiln.map((round) => round[figure])
    const steps = raw.map((round) => round[figure])
    showSpread(`${name}, POST to Active, ${figure}`, whole, 'ms')
    showSpread(`${name}, its steps, ${figure}`, steps, 'ms')
    const aim = { unit: 'ms', atMost: AIMS_MS[figure] }
    showFigure(`publish.${name}.${figure}`, median(whole) - median(steps), aim)
  }
}
