import { mkdtemp, rm } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'

import { startService } from '../test/support/service.ts'
import { makeKilnPublish } from './publish/kiln.ts'
import { makeRawPublish } from './publish/raw.ts'
import { makeArchive, makeTarget } from './publish/target.ts'
import type { Archive, PublishOnce } from './publish/target.ts'
import { say, showFigure, spread } from './support/figures.ts'
import { inLanes } from './support/lanes.ts'
import { withServers } from './support/with-servers.ts'

const ROUNDS = 3

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
    const folder = await mkdtemp(join(tmpdir(), 'kiln-bench-publish-'))
    keep({ stop: () => rm(folder, { recursive: true, force: true }) })
    const service = keep(
      await startService({ env: { PUBLISH_AUTH: 'token', HEARTBEAT_SECONDS: '10' } }),
    )
    const target = await makeTarget(service)
    const kiln = keep(await makeKilnPublish(service, target))
    const { sql } = service.database
    const raw = keep(await makeRawPublish({ sql, storagePath: folder, target }))
    say(`load of the machine before: ${(loadavg()[0] ?? 0).toFixed(1)}`)
    await measure({ kiln: kiln.publishOnce, raw: raw.publishOnce })
  })

type Sides = Record<'kiln' | 'raw', PublishOnce>

interface Times {
  p50: number[]
  p99: number[]
}

const measure = async (sides: Sides): Promise<void> => {
  const figures: (() => void)[] = []
  for (const { name, bytes, each } of SIZES) {
    const archive = makeArchive(bytes)
    for (const lanes of LANES) {
      const measured: Record<'kiln' | 'raw', Times> = {
        raw: { p50: [], p99: [] },
        kiln: { p50: [], p99: [] },
      }
      for (let round = 0; round <= ROUNDS; round += 1)
        for (const side of ['raw', 'kiln'] as const) {
          const count = round === 0 ? lanes : each[lanes]
          const many = { lanes, count, name: `${side}-${name}-${lanes}`, minor: round }
          const times = await publishMany(sides[side], archive, many)
          // The first warms up.
          if (round > 0) measured[side].p50.push(at(times, 0.5))
          if (round > 0) measured[side].p99.push(at(times, 0.99))
        }
      figures.push(show(`${name}.${lanes}`, measured))
    }
  }
  for (const figure of figures) figure()
}

const at = (sorted: readonly number[], share: number): number =>
  sorted[Math.round((sorted.length - 1) * share)] ?? Number.NaN

interface Many {
  lanes: number
  count: number
  /** Of the nodes and of the versions, so that no version is published twice. */
  name: string
  minor: number
}

/** Milliseconds of each publication, sorted. Each lane has a node of its own: two of one node would wait for each other. */
const publishMany = async (
  publishOnce: PublishOnce,
  archive: Archive,
  { lanes, count, name, minor }: Many,
): Promise<number[]> => {
  const times: number[] = []
  await inLanes(count, lanes, async (index, lane) => {
    const version = { nodeId: `${name}-${lane}`, version: `1.${minor}.${index}` }
    const start = performance.now()
    await publishOnce(archive, version)
    times.push(performance.now() - start)
  })
  return times.toSorted((a, b) => a - b)
}

/** One row of the table, and the figures that are shown at the end. */
const show = (name: string, { kiln, raw }: Record<'kiln' | 'raw', Times>): (() => void) => {
  const words = (times: Times): string =>
    (['p50', 'p99'] as const)
      .map((figure) => {
        const { min, median, max } = spread(times[figure])
        return `${figure} ${median.toFixed(0).padStart(5)} ms (${min.toFixed(0)}..${max.toFixed(0)})`
      })
      .join('  ')
  say(`${name.padEnd(8)} POST to Active ${words(kiln)}   its steps ${words(raw)}`)
  return () => {
    for (const figure of ['p50', 'p99'] as const) {
      const added = spread(kiln[figure]).median - spread(raw[figure]).median
      showFigure(`publish.${name}.${figure}`, added, {
        unit: 'ms',
        aim: AIMS_MS[figure],
        atMost: true,
      })
    }
  }
}
