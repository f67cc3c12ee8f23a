import { errors } from '../../domain/shared/errors.ts'
import type { Quota } from '../../domain/task/quota.ts'
import type { Sql, Transaction } from '../client.ts'

/** Cost of a new task for its account. */
interface Cost {
  account: string
  credits: number
  bytes: number
}

export interface AccountLimits {
  /** Absent: no bound. */
  quota?: Quota | undefined
  /** Most that charges minus refunds may be; absent: no bound. */
  creditLimit?: number | undefined
}

/**
 * Adds the cost of a task, which was inserted before, to its account. The row of the account is locked until the commit,
 * so two requests cannot both take the last of a quota. Throws 402 and 429 `quota_exceeded`.
 */
export const chargeAccount = async (
  sql: Transaction,
  { account, credits, bytes }: Cost,
  limits: AccountLimits,
): Promise<void> => {
  const [[used], [open]] = await Promise.all([
    sql<{ credits: number; bytes: number }[]>`
      insert into owner as o (id, credits_used, stored_bytes)
      values (${account}, ${credits}, ${bytes})
      on conflict (id) do update set
        credits_used = o.credits_used + excluded.credits_used,
        stored_bytes = o.stored_bytes + excluded.stored_bytes
      returning credits_used::float8 as credits, stored_bytes::float8 as bytes
    `.execute(),
    // Begins once the row is locked, so it sees the tasks of those who held the lock before.
    sql<{ tasks: number }[]>`
      select count(*)::integer as tasks
      from (
        select from task where account = ${account} and ended_at is null
        limit ${(limits.quota?.tasks ?? 0) + 1}
      ) t
    `.execute(),
  ])
  if (!used || !open) throw new Error('an account without a row')
  rejectMore({ ...used, ...open }, credits, limits)
}

/** Throws what `chargeAccount` would throw for a further task, and charges nothing. */
export const checkAccount = async (
  sql: Sql,
  { account, credits, bytes }: Cost,
  limits: AccountLimits,
): Promise<void> => {
  const [used] = await sql<Used[]>`
    select coalesce(max(credits_used), 0)::float8 + ${credits}::integer as credits,
      coalesce(max(stored_bytes), 0)::float8 + ${bytes}::bigint as bytes,
      1 + (select count(*)::integer from (
        select from task where account = ${account} and ended_at is null
        limit ${limits.quota?.tasks ?? 0}
      ) t) as tasks
    from owner where id = ${account}
  `
  if (used) rejectMore(used, credits, limits)
}

/** Use of an account, a further task included. */
interface Used {
  credits: number
  bytes: number
  tasks: number
}

const rejectMore = (used: Used, credits: number, { quota, creditLimit }: AccountLimits): void => {
  if (creditLimit !== undefined && used.credits > creditLimit)
    throw errors.insufficientCredits(credits, Math.max(0, creditLimit - used.credits + credits))
  if (quota && used.tasks > quota.tasks) throw errors.taskQuotaExceeded(quota.tasks)
  // Results are never rejected, so the account may be over it already.
  if (quota && used.bytes > quota.bytes)
    throw errors.byteQuotaExceeded(quota.bytes, quota.retentionDays)
}

/** Passes the quota to the charge of an image task, which its COMMIT makes. */
export const setQuota = async (sql: Transaction, quota: Quota | undefined): Promise<void> => {
  if (quota)
    await sql`
      select set_config('kiln.most_tasks', ${String(quota.tasks)}, true),
        set_config('kiln.most_bytes', ${String(quota.bytes)}, true)
    `
}

/** Converts the error of a COMMIT that passes a quota to 429 `quota_exceeded`; returns any other as it is. */
export const toQuotaError = (error: unknown, quota: Quota): unknown => {
  const code = (error as { code?: unknown } | null)?.code
  if (code === 'KQ001') return errors.taskQuotaExceeded(quota.tasks)
  return code === 'KQ002' ? errors.byteQuotaExceeded(quota.bytes, quota.retentionDays) : error
}

/** Adds the bytes of what a task has made to the task and its account. An older release counted nothing. */
export const addStoredBytes = async (
  sql: Transaction,
  taskId: string,
  { bytes, thumbnail }: { bytes: number; thumbnail?: string | undefined },
): Promise<void> => {
  await sql`
    with made as (
      update task set stored_bytes = stored_bytes + ${bytes}, thumbnail = ${thumbnail ?? null}
      where id = ${taskId} returning account
    )
    update owner o set stored_bytes = o.stored_bytes + ${bytes} from made where o.id = made.account
  `
}

/** Adds bytes to an account, whose row is locked until the commit. Throws 429 `quota_exceeded`. */
export const chargeBytes = async (
  sql: Transaction,
  { account, bytes }: Omit<Cost, 'credits'>,
  quota: Quota,
): Promise<void> => {
  const [used] = await sql<{ bytes: number }[]>`
    insert into owner as o (id, stored_bytes) values (${account}, greatest(0, ${bytes}::bigint))
    on conflict (id) do update set stored_bytes = o.stored_bytes + ${bytes}
    returning stored_bytes::float8 as bytes
  `
  if (used && bytes > 0 && used.bytes > quota.bytes)
    throw errors.byteQuotaExceeded(quota.bytes, quota.retentionDays)
}
