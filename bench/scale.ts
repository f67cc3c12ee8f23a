import { startService } from '../test/support/service.ts'
import { whyNoTemporalServer } from '../test/support/temporal-postgres.ts'
import { say, showFigure } from './support/figures.ts'
import { withKept, withServers } from './support/keep.ts'
import { rateOf } from './support/lanes.ts'
import { spentOn, watchProcessors } from './support/processor.ts'
import { DEFAULTS } from './support/settings.ts'
import { relight, startTaskClient } from './support/task-client.ts'
import { startOnPostgres, temporalOnSqlite } from './support/temporal.ts'
import type { Temporal } from './support/temporal.ts'

/** A render sleeps so long; a media worker has so many slots: eight tasks a second are the most it can do. */
const SLEEP_MS = 500
const SLOTS = 4
const SECONDS = Number(process.env['SECONDS'] ?? 10)
/** Processes of each role, one row of the table after another. */
const STEPS = [
  { api: 1, core: 1, media: 1 },
  { api: 1, core: 1, media: 2 },
  { api: 1, core: 1, media: 4 },
  { api: 1, core: 2, media: 4 },
  { api: 2, core: 2, media: 4 },
  { api: 4, core: 4, media: 4 },
  { api: 4, core: 4, media: 8 },
] as const

/**
 * Tasks a second as processes are added, with renders that sleep, so that what is measured is their coordination. Once
 * with the development server of Temporal and once with a server on PostgreSQL. Each row says how much of the processors
 * each part took, so that one sees what the limit is.
 */
export const run = async (): Promise<void> =>
  await withServers(async (keep, servers) => {
    await measure('sqlite', temporalOnSqlite(servers))
    const missing = await whyNoTemporalServer()
    if (missing !== undefined) return say(`Temporal on PostgreSQL is skipped: ${missing}`)
    await measure('postgres', await startOnPostgres(keep, servers))
  })

const measure = async (name: string, { address, folder }: Temporal): Promise<void> =>
  await withKept(async (keep) => {
    const env = {
      ...DEFAULTS,
      SLEEP_MS: String(SLEEP_MS),
      MEDIA_SLOTS: String(SLOTS),
      TEMPORAL_ADDRESS: address,
    }
    const service = keep(await startService({ media: 'bench/support/sleeping-media.ts', env }))
    const tasks = keep(await startTaskClient(service))
    const { pids, read } = await watchProcessors(service, folder)
    const order = await relight()
    const urls = [service.baseUrl]
    const grow = async (step: (typeof STEPS)[number]): Promise<void> => {
      while (urls.length < step.api) {
        const { baseUrl, entry } = await service.startSecondApi()
        urls.push(baseUrl)
        pids.api.push(entry.pid)
      }
      for (const role of ['core', 'media'] as const)
        while (pids[role].length < step[role]) pids[role].push((await service.start(role)).pid)
    }
    say(`\nTemporal on ${name}: processes of api, core, media; tasks/s; processors of each part`)
    const rates: number[] = []
    for (const step of STEPS) {
      await grow(step)
      const inFlight = step.media * SLOTS * 2
      let next = 0
      const runTask = () => tasks.run({ ...order, baseUrl: urls[next++ % urls.length] })
      await rateOf(inFlight, inFlight, runTask)
      const most = (step.media * SLOTS * 1000) / SLEEP_MS
      let rate = 0
      const spent = await spentOn(read, async () => {
        rate = await rateOf(most * SECONDS, inFlight, runTask)
      })
      const ms = (most * SECONDS * 1000) / rate
      const shares = Object.entries(spent).map(
        ([part, taken]) => `${part} ${(taken / ms).toFixed(2)}`,
      )
      rates.push(rate)
      const processes = Object.values(step).join(' ')
      say(`${processes}   ${rate.toFixed(1).padStart(5)} of ${most}   ${shares.join('  ')}`)
    }
    const grown = Math.max(...rates) / (rates[0] ?? Number.NaN)
    showFigure(`scale.${name}`, grown, { unit: 'x', atLeast: 4 })
  })
