import { loadConfig } from './config.ts'
import { migrate } from './platform/db/migrate.ts'
import { captureOutput, makeLog } from './platform/log.ts'
import { readAddresses } from './platform/settings/settings.ts'
import { OperatorError } from './platform/process/operator-error.ts'
import { describeServerError } from './operate/server-error.ts'
import { openTemporal } from './platform/temporal/connection.ts'
import { adviseTemporal } from './platform/temporal/temporal-advice.ts'
import { readTemporal } from './platform/settings/temporal.ts'
import { endEarlierRuns } from './tasks/temporal/end-earlier.ts'
import { createSchedules } from './platform/temporal/schedule.ts'
import {
  adviseSearchAttributes,
  registerSearchAttributes,
} from './platform/temporal/search-attributes.ts'

const config = loadConfig('migrate')
const log = makeLog('migrate', config.LOG_LEVEL)
captureOutput(log)

const run = async (): Promise<void> => {
  const applied = await migrate(readAddresses(config).direct, {
    onApplied: (migration) => log.info({ migration }, 'migration applied'),
    onBlocked: (blockers, migration) =>
      log.warn(
        { migration, blockers },
        `${migration ?? 'migrate'} waits for locks of ${blockers.map((one) => `pid ${one.pid} (${one.application_name}, ${one.query_seconds} s)`).join(', ')}: let its transaction end, or end it with \`select pg_terminate_backend(<pid>)\``,
      ),
  })
  log.info({ applied }, applied.length > 0 ? 'database migrated' : 'database is up to date')

  const target = readTemporal()
  const connection = openTemporal(target, { connectTimeout: '10 seconds' })
  try {
    await connection.ensureConnected()
    const { added, missing } = await registerSearchAttributes(connection, target.namespace)
    if (missing.length > 0) log.warn({ missing }, adviseSearchAttributes(missing, target.namespace))
    const ended = await endEarlierRuns(connection, target.namespace, missing)
    if (ended > 0) log.info({ ended }, 'runs of an earlier release ended: they are started again')
    const scheduled = await createSchedules(connection, {
      namespace: target.namespace,
      taskQueue: config.TASK_QUEUE,
    })
    log.info({ added, scheduled }, 'search attributes and schedules are in place')
  } catch (error) {
    const advice = await adviseTemporal(target, error)
    throw advice === undefined ? error : new OperatorError(advice)
  } finally {
    await connection.close()
  }
}

try {
  await run()
} catch (error) {
  const database = config.DATABASE_DIRECT_URL ? 'DATABASE_DIRECT_URL' : 'DATABASE_URL'
  log.fatal(
    /debug|trace/.test(config.LOG_LEVEL) ? { err: error } : {},
    await describeServerError(error, database),
  )
  process.exitCode = 1
}
