import { inspect } from 'node:util'

import { MigrationError } from '../platform/db/migrate.ts'
import { isUnavailable } from '../platform/db/sqlstate.ts'
import { describeCauses, listCauses } from '../platform/domain/causes.ts'
import { findGrpcError } from '../platform/temporal/grpc-error.ts'
import { adviseTemporal } from '../platform/temporal/temporal-advice.ts'
import { OperatorError } from '../platform/process/operator-error.ts'
import type { Config } from '../compose/settings/env.ts'
import { readTemporal } from '../platform/settings/temporal.ts'

/** Codes of a certificate that is not accepted, and of a server that speaks no TLS. */
const TLS = /CERT|SELF_SIGNED|UNABLE_TO|^ERR_(SSL|TLS)/

/** Returns what an operator does about PostgreSQL that is away or lets nobody in; undefined for any other error. */
export const advisePostgres = (error: unknown, setting: keyof Config): string | undefined => {
  const { code = '', message } = listCauses(error).at(-1) ?? {}
  if (code.startsWith('28')) return `${message}: correct user or password in ${setting}`
  if (code === '3D000') return `${message}: create it, or correct ${setting}`
  if (code === '53300')
    return `PostgreSQL has no connection left (${message}): raise max_connections, or lower DATABASE_POOL`
  if (TLS.test(code))
    return `the certificate of PostgreSQL is not accepted (${message}): correct its certificate or the TLS parameters in ${setting}`
  const isResponse = /\d/.test(code)
  return isUnavailable({ code }) && !isResponse
    ? `PostgreSQL does not respond (${message}): start PostgreSQL, or correct ${setting}`
    : undefined
}

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
