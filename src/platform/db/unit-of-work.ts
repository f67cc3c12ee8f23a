import { setTimeout as sleep } from 'node:timers/promises'

import { ApiError, errors } from '../domain/errors.ts'
import { inTime, LateError } from '../domain/in-time.ts'
import type { Journal } from '../log.ts'
import { failpoint } from '../process/failpoint.ts'
import { deadlineOf, type Sql, type Transaction } from './client.ts'
import { insertOutbox, type EnqueueOptions, type OutboxEntry, type OutboxRow } from './outbox.ts'
import type { NotifyChange } from './change-notification.ts'
import { isRetryable, isUnavailable, isUnknownOutcome } from './sqlstate.ts'

const ATTEMPTS = 3
const POLL_PAUSE_MS = 100

export interface UnitDeps {
  sql: Sql
  /** Begins to dispatch a committed row to Temporal. Without it, and where it fails, the relay does. */
  jobs?: {
    dispatchNow(row: OutboxRow): void
    tracing?: { current(): string | undefined } | undefined
  }
  /** Notifies the watchers of a task or version of its change. */
  notifyChange?: NotifyChange
  /** Absent: no line is logged. */
  journal?: Journal | undefined
}

/** Enqueues a message to Temporal in the transaction of the fact; it is dispatched right after the commit. */
export interface Enqueue {
  (entry: OutboxEntry, options?: EnqueueOptions): Promise<void>
  /** Has a line of the journal written right after the commit. */
  line: Journal
}

export interface UnitOptions {
  /** Names the lines before and after the COMMIT at which a fault test kills. */
  at?: 'create' | 'move' | 'archive' | 'check' | undefined
  /** The task or version that it changes; its watchers are notified after the commit. */
  of?: string
  /** Longest statement in milliseconds, where the limit of the pool is too short. */
  statementMs?: number
  /** Looks outside of the transaction whether it took effect. */
  wasCommitted?: () => Promise<boolean>
}

/**
 * Runs `work` in one transaction, commits, then dispatches what `work` enqueued; returns what `work` returns. Nothing
 * else begins a transaction.
 *
 * Work that met a deadlock or a serialization failure runs again, three times in all. When the connection breaks while
 * COMMIT is under way, whether it took effect is not known: `wasCommitted` then looks on a new connection until the
 * deadline of the pool (docs/decisions.md, Database).
 *
 * Throws what `work` rejects with, 503 `unavailable` when nothing was committed for sure, and 503 `outcome_unknown`
 * when not even that check shows it.
 */
export const unitOfWork = async <T>(
  { sql, jobs, notifyChange, journal }: UnitDeps,
  work: (sql: Transaction, enqueue: Enqueue) => Promise<T>,
  { at, of, statementMs = 0, wasCommitted }: UnitOptions = {},
): Promise<T> => {
  const deadlineMs = Math.max(deadlineOf(sql), statementMs * 1.2)
  const deadline = performance.now() + deadlineMs
  const timed: typeof work = async (sql, enqueue) => {
    if (statementMs > 0)
      await sql`select set_config('statement_timeout', ${String(Math.round(deadlineMs / 1.2))}, true)`
    return await work(sql, enqueue)
  }
  const unit: Unit<T> = { isLate: false }
  try {
    const traceparent = jobs?.tracing?.current()
    await inTime(
      beginWithRetries(sql, unit, { work: timed, at, traceparent }),
      deadline - performance.now(),
      'PostgreSQL',
    )
  } catch (error) {
    // From here on no transaction of this unit may reach its COMMIT.
    unit.isLate = true
    if (error instanceof ApiError) throw error
    if (!(error instanceof LateError) && !isUnavailable(error)) throw error
    if (!unit.done || !mayHaveCommitted(error)) throw errors.unavailable(error)
    if (!wasCommitted || !(await pollUntil(deadline, wasCommitted)))
      throw errors.outcomeUnknown(error)
  }
  if (at) failpoint(`${at}.after-commit`)
  const { result, enqueued, lines } = unit.done as Done<T>
  // `dispatchNow` dispatches the start or signal to Temporal at once; `startRelay` does it later where that fails.
  for (const row of enqueued) jobs?.dispatchNow(row)
  // NOTIFY: `listenForChanges` and `listenForFirstAttempts` receive it in other processes.
  if (of !== undefined) notifyChange?.(of)
  for (const line of lines) journal?.(...line)
  return result
}

/** True when a unit of work may have taken effect although it threw: what it names must stay. */
export const isOutcomeUnknown = (error: unknown): boolean =>
  error instanceof ApiError && error.code === 'outcome_unknown'

interface Done<T> {
  result: T
  /** The rows of the outbox that it wrote. */
  enqueued: OutboxRow[]
  lines: Parameters<Journal>[]
}

interface Unit<T> {
  /** Set when the work is done and COMMIT is on its way. */
  done?: Done<T> | undefined
  /** The caller waits no longer: what is under way is rolled back. */
  isLate: boolean
}

const mayHaveCommitted = (error: unknown): boolean =>
  error instanceof LateError || isUnknownOutcome(error)

interface Attempts<T> extends Pick<UnitOptions, 'at'> {
  work: (sql: Transaction, enqueue: Enqueue) => Promise<T>
  traceparent: string | undefined
}

/** Adds the trace of a transaction to what it starts. */
const withTrace = (entry: OutboxEntry, traceparent: string | undefined): OutboxEntry =>
  entry.kind === 'signal' || traceparent === undefined
    ? entry
    : { ...entry, options: { ...entry.options, traceparent } }

const beginWithRetries = async <T>(
  sql: Sql,
  unit: Unit<T>,
  { work, at, traceparent }: Attempts<T>,
): Promise<void> => {
  for (let attempts = 1; ; attempts += 1)
    try {
      await sql.begin(async (sql) => {
        const enqueued: OutboxRow[] = []
        const lines: Parameters<Journal>[] = []
        const insert = async (entry: OutboxEntry, options?: EnqueueOptions): Promise<void> => {
          const row = await insertOutbox(sql, withTrace(entry, traceparent), options)
          if (row) enqueued.push(row)
        }
        const line: Journal = (...given) => void lines.push(given)
        const result = await work(sql, Object.assign(insert, { line }))
        if (unit.isLate) throw new LateError('the caller waits no longer')
        if (at) failpoint(`${at}.before-commit`)
        unit.done = { result, enqueued, lines }
      })
      return
    } catch (error) {
      if (!isRetryable(error)) throw error
      unit.done = undefined
      if (attempts === ATTEMPTS || unit.isLate) throw errors.unavailable(error)
    }
}

const pollUntil = async (deadline: number, check: () => Promise<boolean>): Promise<boolean> => {
  while (performance.now() < deadline) {
    const found = await inTime(check(), deadline - performance.now(), 'PostgreSQL').catch(
      () => false,
    )
    if (found) return true
    await sleep(POLL_PAUSE_MS)
  }
  return false
}
