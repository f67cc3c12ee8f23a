import type postgres from 'postgres'

import { errors } from '../domain/errors.ts'
import { inTime, LateError } from '../domain/in-time.ts'
import { makePool, type PoolLoad } from './pool.ts'
import { isUnavailable } from './sqlstate.ts'

export type Sql = postgres.Sql
/** The handle inside a transaction. A function that takes it must not begin another. */
export type Transaction = postgres.TransactionSql
/** The handle of a query that may run inside a transaction or outside. */
export type Queryable = Sql | Transaction
/** A part of a query. */
export type Fragment = postgres.PendingQuery<postgres.Row[]>

export interface DatabaseOptions {
  url: string
  /** Connections at most. */
  pool: number
  /** Name in pg_stat_activity. */
  name: string
  /** Longest statement in milliseconds; 0: any. */
  statementTimeoutMs: number
  /** Longest wait for a connection, and for a lock, in milliseconds. */
  waitMs?: number
  /** True when sessions keep prepared statements: not behind a pooler that lends connections for a transaction. */
  prepare?: boolean
  /**
   * Each statement finds its rows by an index. Otherwise the planner goes through a table while that is small, and a
   * prepared statement keeps to that while the table grows, until its next ANALYZE.
   */
  byIndex?: boolean
  /** The server ends a session that has said nothing for so many milliseconds, and frees its locks; never when absent. */
  idleMs?: number
  /** Counts what the pool does; absent: nothing is counted. */
  load?: PoolLoad | undefined
  /** Called with every statement, and with the values and types of its parameters. Measurements use it. */
  onStatement?: (statement: { text: string; values: unknown[]; types: number[] }) => void
}

/**
 * PostgreSQL looks for a deadlock when a lock has been waited for as long as `deadlock_timeout`, a second by default.
 * One that gives up at the same moment never learns of the deadlock, and nor does the other.
 */
const DEADLOCK_MS = 100

/** Opens a pool. Connections are made on demand: it succeeds while PostgreSQL is down. */
export const makeDatabase = ({
  url,
  pool,
  name,
  statementTimeoutMs,
  waitMs = 1000,
  prepare = true,
  byIndex = false,
  idleMs,
  load,
  onStatement,
}: DatabaseOptions): Sql =>
  makePool(
    url,
    {
      max: pool,
      prepare,
      connect_timeout: waitMs / 1000,
      // With a longer pause the first requests after an outage would fail; an attempt costs one connection refused.
      backoff: () => 0.1,
      onnotice: () => {},
      connection: {
        application_name: name,
        statement_timeout: statementTimeoutMs,
        lock_timeout: waitMs + DEADLOCK_MS,
        // Who waits for others this long lets them wait as long.
        idle_in_transaction_session_timeout: Math.max(10_000, waitMs),
        ...(idleMs !== undefined && { idle_session_timeout: idleMs }),
        // Statements are short: docs/decisions.md, Database. Texts, because the driver drops `false` and 0.
        jit: 'off',
        max_parallel_workers_per_gather: '0',
        // A statement that is not prepared is planned each time.
        ...(byIndex && prepare && { enable_seqscan: 'off' }),
      },
      transform: { undefined: null },
      // A copy, because the driver goes on to write into the list of values.
      ...(onStatement && {
        debug: (_connection, text, values, types) =>
          onStatement({
            text,
            values: [...(values as unknown[])],
            types: [...(types as number[])],
          }),
      }),
    },
    load,
  )

/**
 * The deadline of one unit of work on this pool, in milliseconds: a statement's limit and a fifth more. A pool without
 * a limit for statements has no deadline.
 */
export const deadlineOf = (sql: Sql): number =>
  Number(sql.options.connection['statement_timeout']) * 1.2 || NO_DEADLINE_MS

/** The longest that a timer takes: 24 days. */
const NO_DEADLINE_MS = 2 ** 31 - 1

/**
 * Runs database work of one request within the deadline of its pool and turns an unreachable or overloaded server into 503.
 * postgres.js has no deadline of its own: a query on a connection that died silently would wait for ever.
 */
export const withinDeadline = async <T>(sql: Sql, work: Promise<T>): Promise<T> => {
  try {
    return await inTime(work, deadlineOf(sql), 'PostgreSQL')
  } catch (error) {
    throw error instanceof LateError || isUnavailable(error) ? errors.unavailable(error) : error
  }
}
