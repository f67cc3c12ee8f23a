import { Connection } from '@temporalio/client'

import { loadConfig } from './config.ts'
import { migrate } from './db/migrate.ts'
import { makeLog } from './log.ts'
import { readAddresses } from './process/settings/derived.ts'
import { createPurgeSchedule } from './jobs/schedule.ts'
import { registerSearchAttributes } from './jobs/search-attributes.ts'

const config = loadConfig('migrate')
const log = makeLog('migrate', config.LOG_LEVEL)

const applied = await migrate(readAddresses(config).direct, {
  onApplied: (migration) => log.info({ migration }, 'migration applied'),
})
log.info({ applied }, applied.length > 0 ? 'database migrated' : 'database is up to date')

const connection = await Connection.connect({
  address: config.TEMPORAL_ADDRESS,
  connectTimeout: '10 seconds',
})
const added = await registerSearchAttributes(connection, config.TEMPORAL_NAMESPACE)
const scheduled = await createPurgeSchedule(connection, {
  namespace: config.TEMPORAL_NAMESPACE,
  taskQueue: config.TASK_QUEUE,
})
await connection.close()
log.info({ added, scheduled }, 'search attributes and schedule are in place')
