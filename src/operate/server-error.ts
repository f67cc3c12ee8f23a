import { inspect } from 'node:util'

import { MigrationError } from '../platform/db/migrate.ts'
import { advisePostgres } from '../platform/process/postgres-advice.ts'
import { describeCauses } from '../platform/domain/causes.ts'
import { findGrpcError } from '../platform/temporal/grpc-error.ts'
import { adviseTemporal } from '../platform/temporal/temporal-advice.ts'
import { OperatorError } from '../platform/process/operator-error.ts'
import type { Config } from '../compose/settings/env.ts'
import { readTemporal } from '../platform/settings/temporal.ts'

/** Reports to an operator in one line why a command failed, and what to do. LOG_LEVEL=debug shows where. */
export const reportError = async (error: unknown, config: Config): Promise<void> => {
  process.stderr.write(`kiln: ${await describeServerError(error)}\n`)
  if (/debug|trace/.test(config.LOG_LEVEL)) process.stderr.write(`${inspect(error)}\n`)
}

/** Why a command or a process failed, and what to do. `database` is the setting of the address that was used. */
export const describeServerError = async (
  error: unknown,
  database: keyof Config = 'DATABASE_URL',
): Promise<string> => {
  if (error instanceof OperatorError || error instanceof MigrationError) return error.message
  const advice = findGrpcError(error)
    ? await adviseTemporal(readTemporal(), error)
    : advisePostgres(error, database)
  return `${advice ?? describeCauses(error)}; \`kiln operate doctor\` says more`
}
