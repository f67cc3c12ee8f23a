import { Connection } from '@temporalio/client'

import { loadConfig } from './config.ts'
import { migrate } from './db/migrate.ts'
import { makeLog } from './log.ts'
import { readAddresses } from './process/settings/derived.ts'
import { OperatorError } from './process/operator-error.ts'
import { adviseTemporal, reportError } from './operate/server-error.ts'
import { createSchedules } from './jobs/schedule.ts'
import { registerSearchAttributes } from './jobs/search-attributes.ts'

const config = loadConfig('migrate')
const log = makeLog('migrate', config.LOG_LEVEL)

const run = async (): Promise<void> => {
  const applied = await migrate(readAddresses(config).direct, {
    onApplied: (migration) => log.info({ migration }, 'migration applied'),
  })
  log.info({ applied }, applied.length > 0 ? 'database migrated' : 'database is up to date')

  const connection = await Connection.connect({
    address: config.TEMPORAL_ADDRESS,
    connectTimeout: '10 seconds',
  }).catch(async (error: unknown) => {
    const away = await adviseTemporal(config.TEMPORAL_ADDRESS)
    throw away === undefined ? error : new OperatorError(away)
  })
  try {
    const added = await registerSearchAttributes(connection, config.TEMPORAL_NAMESPACE)
    const scheduled = await createSchedules(connection, {
      namespace: config.TEMPORAL_NAMESPACE,
      taskQueue: config.TASK_QUEUE,
    })
    log.info({ added, scheduled }, 'search attributes and schedules are in place')
  } finally {
    await connection.close()
  }
}

try {
  await run()
} catch (error) {
  await reportError(
    error,
    config,
    config.DATABASE_DIRECT_URL ? 'DATABASE_DIRECT_URL' : 'DATABASE_URL',
  )
  process.exitCode = 1
}
