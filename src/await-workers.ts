/**
 * Ends when no worker of the roles in its arguments is of an earlier release: `node dist/src/await-workers.js core media`.
 * The chart runs it before the parts that an upgrade replaces later (docs/operations/run.md, Upgrade).
 */
import { setTimeout as sleep } from 'node:timers/promises'

import { listEarlierWorkers } from './compose/earlier-workers.ts'
import { loadConfig } from './config.ts'
import { makeDatabase } from './platform/db/client.ts'
import { makeLog } from './platform/log.ts'
import { readAddresses } from './platform/settings/settings.ts'
import { readTemporal } from './platform/settings/temporal.ts'
import { makeJobs } from './platform/temporal/client.ts'
import { openTemporal } from './platform/temporal/connection.ts'

const PAUSE_MS = 2000
/** Half a minute: one line is logged in it, and a server that is away for as long is waited for no longer. */
const ATTEMPTS = 15

const config = loadConfig('worker')
const log = makeLog('await-workers', config.LOG_LEVEL)
const { pooled } = readAddresses(config)
const sql = makeDatabase({ ...pooled, pool: 1, name: 'kiln await', statementTimeoutMs: 10_000 })
const connection = openTemporal(readTemporal())
const jobs = makeJobs({ connection, namespace: config.TEMPORAL_NAMESPACE, sql, log, publicUrl: '' })
const asked = { taskQueue: config.TASK_QUEUE, roles: process.argv.slice(2) }

/** True when nothing is waited for: an api starts, and serves, without Temporal. */
const isTurn = async (attempt: number): Promise<boolean> => {
  try {
    const earlier = await listEarlierWorkers(jobs, sql, asked)
    if (earlier.length > 0 && attempt % ATTEMPTS === 0)
      log.info({ earlier }, 'waits until no worker of an earlier release lives')
    return earlier.length === 0
  } catch (error) {
    if (attempt < ATTEMPTS) return false
    log.warn({ err: error }, 'nobody says whether workers of an earlier release live')
    return true
  }
}

for (let attempt = 0; !(await isTurn(attempt)); attempt += 1) await sleep(PAUSE_MS)
await connection.close()
await sql.end({ timeout: 1 })
