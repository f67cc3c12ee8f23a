import { setTimeout as sleep } from 'node:timers/promises'

import { withServers } from '../test/support/keep.ts'
import { startService } from '../test/support/service.ts'
import { say, showResult } from './support/results.ts'
import { spentOn, watchProcessors } from './support/processor.ts'
import { DEFAULTS } from './support/settings.ts'

/** Until what a start begins is done, with the collections of garbage in the minute after it. */
const CALM_MS = Number(process.env['CALM_MS'] ?? 120_000)
const IDLE_MS = Number(process.env['IDLE_MS'] ?? 120_000)

/** Measures what the service and its servers take while nothing happens, in hundredths of a core. */
export const run = async (): Promise<void> =>
  await withServers(async (keep, { folder }) => {
    const service = keep(await startService({ env: DEFAULTS }))
    const read = await watchProcessors(service, `${folder}/temporal`)
    await sleep(CALM_MS)
    const spent = await spentOn(read, () => sleep(IDLE_MS))
    const parts = Object.entries(spent).map(([part, ms]) => [part, (ms / IDLE_MS) * 100] as const)
    for (const [part, percent] of parts) say(`${part.padEnd(10)} ${percent.toFixed(2)} %`)
    const all = parts.reduce((sum, [, percent]) => sum + percent, 0)
    showResult('idle.processor', all, { unit: '%', atMost: 1 })
  })
