import type { Queryable } from '../../platform/db/client.ts'

/** The longest wait between two attempts, in seconds. */
const MAX_SECONDS = 900
/** A day without an attempt forgets the failures. */
const FORGET = '1 day'

/**
 * Counts an attempt as failed before it is made, so that many at once count, too. After the first `free` each failure
 * doubles the wait until the next attempt. The free ones set no wait, so that they may come at once. Returns false where
 * it must wait, and then nothing is counted.
 */
export const beginAttempt = async (
  sql: Queryable,
  { key, free }: { key: string; free: number },
): Promise<boolean> => {
  const rows = await sql`
    insert into sign_in_failure as f (key, failures, wait_until)
    values (${key}, 1, '-infinity')
    on conflict (key) do update set
      failures = case when f.at < now() - ${FORGET}::interval then 1 else f.failures + 1 end,
      wait_until = case
        when f.at < now() - ${FORGET}::interval or f.failures < ${free} then '-infinity'
        else now() + make_interval(secs => least(2.0 ^ least(f.failures + 1 - ${free}, 20), ${MAX_SECONDS}))
      end,
      at = clock_timestamp()
    where f.wait_until <= now()
    returning key
  `
  return rows.length > 0
}

/** Forgets the failures before a password that was right. */
export const forgetFailures = async (sql: Queryable, keys: string[]): Promise<void> => {
  await sql`delete from sign_in_failure where key = any(${keys})`
}
