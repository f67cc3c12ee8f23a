import type postgres from 'postgres'

import { errors } from '../domain/errors.ts'
import { inTime, LateError } from '../domain/in-time.ts'
import { makePool } from './pool.ts'
import { isUnavailable } from './sqlstate.ts'

export type Sql = postgres.Sql
/** The handle inside a transaction; functions that take it must not open one of their own. */
export type Transaction = postgres.TransactionSql
/** What a query function takes when it may run inside a transaction or outside. */
export type Queryable = Sql | Transaction

export interface DatabaseOptions {
  url: string
  /** Connections at most. */
  pool: number
  /** Name in pg_stat_activity. */
  name: string
  /** Longest statement in milliseconds; 1.5 s on request paths, longer in workers. */
  statementTimeoutMs: number
}

/** Opens a pool. Connections are made on demand: it succeeds while PostgreSQL is down. */
export const makeDatabase = ({ url, pool, name, statementTimeoutMs }: DatabaseOptions): Sql =>
  makePool(url, {
    max: pool,
    connect_timeout: 1,
    // A reconnect that waits makes the first requests after an outage fail; one attempt costs a refused connect.
    backoff: () => 0.1,
    onnotice: () => {},
    connection: {
      application_name: name,
      statement_timeout: statementTimeoutMs,
      lock_timeout: 1000,
      idle_in_transaction_session_timeout: 10_000,
    },
    transform: { undefined: null },
  })

/**
 * Runs the database work of one request within `deadlineMs` and turns an unreachable or overloaded server into 503.
 * postgres.js has no deadline of its own: a query on a connection that died silently would wait for ever.
 */
export const withinDeadline = async <T>(work: Promise<T>, deadlineMs = 1800): Promise<T> => {
  try {
    return await inTime(work, deadlineMs, 'PostgreSQL')
  } catch (error) {
    throw error instanceof LateError || isUnavailable(error) ? errors.unavailable(error) : error
  }
}
