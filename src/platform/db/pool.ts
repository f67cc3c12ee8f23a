import postgres from 'postgres'

import { readDatabaseAddress } from '../settings/database.ts'
import { ARRAY_TYPES } from './array-types.ts'
import { isReadOnly } from './sqlstate.ts'
import { beginSafely } from './transaction.ts'

/** Ends sessions when they have no query; the driver exports it without a type. */
type Closing = postgres.Sql & { close(): Promise<void> }
type Options = postgres.Options<Record<string, never>>

/** Replacements of the sessions of pools. */
const renewals = new WeakMap<postgres.Sql, () => void>()

/** Replaces the sessions of a pool, which keep the defaults of the server, database and user that they began with. */
export const renewSessions = (sql: postgres.Sql): void => renewals.get(sql)?.()

/** Least time between two replacements: one that still takes no writes finds out at the next. */
const RENEWAL_MS = 5000

export interface PoolLoad {
  /** Queries and transactions that have a connection or wait for one. */
  busy: number
}

/**
 * Makes a pool that replaces itself whenever one of its connections breaks (docs/decisions.md, Database). Queries
 * under way in the old pool go on, and it closes when they have ended. What is read outside of a transaction comes without
 * the holes that the driver may leave.
 */
export const makePool = (address: string, options: Options, load?: PoolLoad): postgres.Sql => {
  const { url, ssl } = readDatabaseAddress(address)
  let current: postgres.Sql | undefined
  let ended = false
  let renewedAt = Number.NEGATIVE_INFINITY
  // The server ends a longer statement, so one without a response by then gets none.
  const silentMs = Number(options.connection?.['statement_timeout']) * 1.2

  const leave = (pool: postgres.Sql): void => {
    if (current === pool) current = undefined
    // A pool with broken slots may never end by itself, so nobody waits for it.
    void pool.end()
  }
  const renew = (pool: postgres.Sql | undefined): void => {
    if (pool === undefined || performance.now() - renewedAt < RENEWAL_MS) return
    renewedAt = performance.now()
    leave(pool)
  }
  const open = (): postgres.Sql => {
    const pool: postgres.Sql = postgres(url, {
      ...options,
      ssl,
      fetch_types: false,
      types: ARRAY_TYPES,
      // Only an error closes a connection, so each close calls for a new pool.
      idle_timeout: undefined,
      max_lifetime: null,
      onclose: () => {
        if (ended) return
        leave(pool)
        // The driver opens one more session for a queue that is left, and would keep it.
        queueMicrotask(() => void (pool as Closing).close())
      },
    })
    return pool
  }
  const use = (): postgres.Sql => {
    current ??= open()
    return current
  }
  const end = async (how?: { timeout?: number }): Promise<void> => {
    ended = true
    await use().end(how)
  }

  current = open()
  const proxy = new Proxy(current, {
    apply: (_first, self, values: unknown[]) => {
      const pool = use()
      const query = Reflect.apply(pool, self, values) as unknown
      if (query instanceof Promise) {
        removeHoles(query)
        if (options.prepare === false) sendAlone(query)
        if (silentMs > 0) endSilence(query, silentMs, () => leave(pool))
        watch(query, { settled: (error) => isReadOnly(error) && renew(pool) })
        if (load) count(query, load)
      }
      return query
    },
    get: (_first, name) => {
      if (name === 'begin')
        return async (work: Parameters<typeof beginSafely>[1]) => {
          if (load) load.busy += 1
          const pool = use()
          let timer: NodeJS.Timeout | undefined
          try {
            return await beginSafely(pool, (sql) => {
              // Its connection may be one of a server that is silent, as may all others: nothing is lost by a new pool.
              if (silentMs > 0) timer = setTimeout(() => leave(pool), 2 * silentMs).unref()
              return work(sql)
            })
          } catch (error) {
            if (isReadOnly(error)) renew(pool)
            throw error
          } finally {
            clearTimeout(timer)
            if (load) load.busy -= 1
          }
        }
      if (name === 'end') return end
      return Reflect.get(use(), name) as unknown
    },
  })
  renewals.set(proxy, () => renew(current))
  return proxy
}

/** Query as the driver (3.4.9) sends and ends it; a fragment of a query is neither sent nor ended. */
interface Pending {
  /** Its response is the next one on its connection. */
  active: boolean
  /** `onexecute` returns whether the next query may follow before the response to this one. */
  options: { onexecute?: () => boolean }
  handler(query: unknown): unknown
  resolve(rows: unknown): void
  reject(error: unknown): void
}

/**
 * Calls back when a query is sent, which may be more than once, and when it has ended. `Object.assign` changes the
 * query: patches/postgres+3.4.9.patch says why.
 */
const watch = (
  query: Promise<unknown>,
  { sent, settled }: { sent?: () => void; settled: (error?: unknown) => void },
): void => {
  const pending = query as unknown as Pending
  const { handler, resolve, reject } = pending
  const send = (sending: unknown): unknown => {
    sent?.()
    return handler(sending)
  }
  Object.assign(pending, {
    // The driver reads settings of the pool from it.
    handler: Object.assign(send, handler),
    resolve: (rows: unknown) => {
      settled()
      resolve(rows)
    },
    reject: (error: unknown) => {
      settled(error)
      reject(error)
    },
  })
}

/** Counts a query while it is under way. */
const count = (query: Promise<unknown>, load: PoolLoad): void => {
  let times = 0
  watch(query, {
    sent: () => {
      load.busy += 1
      times += 1
    },
    settled: () => {
      load.busy -= times
      times = 0
    },
  })
}

/**
 * Lets no query follow on the connection before the response to this one. pgbouncer (1.18) lends a session away after
 * the first response, and the second query, half sent, never gets one. The driver sends ahead only after a query
 * without values.
 */
const sendAlone = (query: Promise<unknown>): void => {
  const pending = query as unknown as Pending
  pending.options.onexecute = () => false
}

/**
 * Rejects a query that has been next at its connection for so long, and leaves the pool. A server that lost its power
 * or its network does not close its connections: TCP alone gives them up after a quarter of an hour.
 */
const endSilence = (query: Promise<unknown>, ms: number, leave: () => void): void => {
  const pending = query as unknown as Pending
  let timer: NodeJS.Timeout | undefined
  const check = (wasActive: boolean): void => {
    timer = setTimeout(() => {
      if (!wasActive || !pending.active) return check(pending.active)
      leave()
      pending.reject(
        Object.assign(new Error('PostgreSQL is silent'), { code: 'CONNECTION_CLOSED' }),
      )
    }, ms).unref()
  }
  watch(query, {
    sent: () => {
      if (!timer) check(false)
    },
    settled: () => clearTimeout(timer),
  })
}

/**
 * The driver counts the rows of a result on from where a statement before it failed on the same connection, until one
 * has completed. Such a result begins with a hole for each row that the failed statement sent. Inside a transaction
 * none does, because BEGIN and ROLLBACK complete.
 */
const removeHoles = (query: Promise<unknown>): void => {
  const pending = query as unknown as Pending
  const { resolve } = pending
  Object.assign(pending, {
    resolve: (rows: unknown) => {
      if (Array.isArray(rows) && rows[0] === undefined)
        rows.splice(
          0,
          rows.findIndex((row) => row !== undefined),
        )
      resolve(rows)
    },
  })
}
