import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'

import { startService } from '../test/support/service.ts'
import type { Service } from '../test/support/service.ts'
import type { TestServers } from '../test/support/servers.ts'
import { say, showFigure } from './support/figures.ts'
import { rateOf } from './support/lanes.ts'
import { pidsIn, readProcessor } from './support/processor.ts'
import { relight, startTaskClient } from './support/task-client.ts'
import { startTemporalOnPostgres, whyNoTemporalServer } from '../test/support/temporal-postgres.ts'
import { withServers } from './support/with-servers.ts'
import type { Keep } from './support/with-servers.ts'

/** A render sleeps so long; a media worker has so many slots: eight tasks a second are the most it can do. */
const SLEEP_MS = 500
const SLOTS = 4
const SECONDS = 10
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
    await measure('Temporal on SQLite', servers)
    const missing = await whyNoTemporalServer()
    if (missing !== undefined) return say(`Temporal on PostgreSQL is skipped: ${missing}`)
    await measureOnPostgres(keep, servers)
  })

const measureOnPostgres = async (keep: Keep, servers: TestServers): Promise<void> => {
  const dataDir = join(servers.folder, 'temporal-postgres')
  await mkdir(dataDir)
  const { address } = keep(
    await startTemporalOnPostgres({ postgresUrl: servers.env.TEST_DATABASE_URL, dataDir }),
  )
  await measure('Temporal on PostgreSQL', servers, { address, dataDir })
}

const measure = async (
  name: string,
  servers: TestServers,
  own?: { address: string; dataDir: string },
): Promise<void> => {
  const service = await startService({
    media: 'bench/support/sleeping-media.ts',
    env: {
      SLEEP_MS: String(SLEEP_MS),
      MEDIA_SLOTS: String(SLOTS),
      HEARTBEAT_SECONDS: '10',
      RATE_LIMITS: 'off',
      ...(own && { TEMPORAL_ADDRESS: own.address }),
    },
  })
  const tasks = await startTaskClient(service)
  try {
    const groups = await makeGroups(service, own?.dataDir ?? join(servers.folder, 'temporal'))
    const order = await relight()
    const urls = [service.baseUrl]
    say(`\n${name}: processes of api, core, media; tasks/s; processors taken by each part`)
    const rates: number[] = []
    for (const step of STEPS) {
      while (urls.length < step.api) {
        const { baseUrl, entry } = await service.startSecondApi()
        urls.push(baseUrl)
        groups.api.push(entry.pid)
      }
      for (const role of ['core', 'media'] as const)
        while (groups[role].length < step[role]) groups[role].push((await service.start(role)).pid)
      const inFlight = step.media * SLOTS * 2
      let next = 0
      const runTask = (): Promise<void> =>
        tasks.run({ ...order, baseUrl: urls[next++ % urls.length] })
      await rateOf(inFlight, inFlight, runTask)
      const before = readProcessor(groups.all())
      const start = performance.now()
      const most = (step.media * SLOTS * 1000) / SLEEP_MS
      const rate = await rateOf(most * SECONDS, inFlight, runTask)
      const seconds = (performance.now() - start) / 1000
      const shares = Object.entries(readProcessor(groups.all())).map(
        ([part, ms]) => `${part} ${((ms - (before[part] ?? 0)) / 1000 / seconds).toFixed(2)}`,
      )
      rates.push(rate)
      say(
        `${Object.values(step).join(' ')}   ${rate.toFixed(1).padStart(5)} of ${most}   ${shares.join('  ')}`,
      )
    }
    const key = own ? 'postgres' : 'sqlite'
    const grown = Math.max(...rates) / (rates[0] ?? Number.NaN)
    showFigure(`scale.${key}`, grown, { unit: 'x', aim: 4, atMost: false })
  } finally {
    await tasks.stop()
    await service.stop()
  }
}

/** The processes whose time is told, by their part. */
const makeGroups = async (service: Service, temporal: string) => {
  const [row] = await service.database.sql<{ cluster: string }[]>`
    select current_setting('data_directory') as cluster
  `
  const pids = {
    api: [service.entry('api').pid],
    core: [service.entry('core').pid],
    media: [service.entry('media').pid],
  }
  return {
    ...pids,
    all: () => ({
      ...pids,
      postgres: pidsIn(row?.cluster ?? ''),
      temporal: pidsIn(temporal),
    }),
  }
}
