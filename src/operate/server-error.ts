import { once } from 'node:events'
import { connect } from 'node:net'
import { inspect } from 'node:util'

import { isGrpcServiceError } from '@temporalio/client'

import { inTime } from '../domain/shared/in-time.ts'
import { MigrationError } from '../db/migrate.ts'
import { isUnavailable } from '../db/sqlstate.ts'
import { OperatorError } from '../process/operator-error.ts'
import type { Config } from '../process/settings/env.ts'

/** The messages of an error and its causes, the innermost last. */
export const describeCauses = (error: unknown): string => {
  const messages = listCauses(error).map(({ message, code, name }) => message || code || name)
  return [...new Set(messages)].join(': ')
}

interface Cause extends Error {
  code?: string
}

const listCauses = (error: unknown): Cause[] => {
  // All addresses of a host were tried, and it has no message of its own.
  if (error instanceof AggregateError && error.message === '') return listCauses(error.errors[0])
  if (!(error instanceof Error)) return [new Error(String(error))]
  return [error, ...(error.cause === undefined ? [] : listCauses(error.cause))]
}

/** Returns what an operator does about PostgreSQL that is away or lets nobody in; undefined for any other error. */
export const advisePostgres = (error: unknown, setting: keyof Config): string | undefined => {
  const { code = '', message } = listCauses(error).at(-1) ?? {}
  if (code.startsWith('28')) return `${message}: correct user or password in ${setting}`
  if (code === '3D000') return `${message}: create it, or correct ${setting}`
  const isResponse = /\d/.test(code)
  return isUnavailable({ code }) && !isResponse
    ? `PostgreSQL does not respond (${message}): start PostgreSQL, or correct ${setting}`
    : undefined
}

const DIAL_MS = 2000

/**
 * Returns what an operator does when nobody listens at TEMPORAL_ADDRESS; undefined when somebody does. gRPC does not
 * always say why.
 */
export const adviseTemporal = async (address: string): Promise<string | undefined> => {
  const [, host = '', port] = /^\[?(.*?)\]?:(\d+)$/.exec(address) ?? []
  const socket = connect(Number(port), host)
  try {
    await inTime(once(socket, 'connect'), DIAL_MS, 'it')
    return undefined
  } catch (error) {
    const { code, message } = listCauses(error).at(-1) ?? {}
    return `Temporal at ${address} does not respond (${code ?? message}): start Temporal, or correct TEMPORAL_ADDRESS`
  } finally {
    socket.destroy()
  }
}

/**
 * Reports to an operator in one line why a command failed, and what to do. LOG_LEVEL=debug shows where. `database` is
 * the setting of the address that was used.
 */
export const reportError = async (
  error: unknown,
  config: Config,
  database: keyof Config = 'DATABASE_URL',
): Promise<void> => {
  process.stderr.write(`kiln: ${await describeError(error, config, database)}\n`)
  if (/debug|trace/.test(config.LOG_LEVEL)) process.stderr.write(`${inspect(error)}\n`)
}

const describeError = async (
  error: unknown,
  config: Config,
  database: keyof Config,
): Promise<string> => {
  if (error instanceof OperatorError || error instanceof MigrationError) return error.message
  const advice = isOfTemporal(error)
    ? await adviseTemporal(config.TEMPORAL_ADDRESS)
    : advisePostgres(error, database)
  return `${advice ?? describeCauses(error)}; \`kiln operate doctor\` says more`
}

const isOfTemporal = (error: unknown): boolean => listCauses(error).some(isGrpcServiceError)
