import { setTimeout as sleep } from 'node:timers/promises'

import type { Sql } from '../../src/platform/db/client.ts'
import { PATIENCE_MS } from './patience.ts'

/** Each check costs the test, the service and its servers some 5 ms: a long wait checks less often, but 4 times a second at least. */
const pauseAfter = (waitedMs: number): number => Math.min(Math.max(waitedMs / 10, 25), 250)

/** Makes a promise that is pending until it is opened. */
export const makeLatch = (): { opened: Promise<undefined>; open: () => void } => {
  let open = (): void => {}
  const opened = new Promise<undefined>((resolve) => {
    open = () => resolve(undefined)
  })
  return { opened, open }
}

/** Waits until `find` returns something, now or later; throws with `what` (asked for then) after the deadline. */
export const waitFor = async <T>(
  what: string | (() => string),
  find: () => Promise<T | undefined | false> | T | undefined | false,
  deadlineMs = PATIENCE_MS,
): Promise<T> => {
  const start = Date.now()
  for (;;) {
    const found = await find()
    if (found !== undefined && found !== false) return found
    const waitedMs = Date.now() - start
    if (waitedMs > deadlineMs) {
      throw new Error(`not within ${deadlineMs} ms: ${typeof what === 'string' ? what : what()}`)
    }
    await sleep(pauseAfter(waitedMs))
  }
}

/** Counts the sessions of a database that wait for a lock. A transaction would read the same number again and again. */
export const countLockWaits = async (sql: Sql): Promise<number> => {
  const { count } = await sql`
    select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
  `
  return count
}
