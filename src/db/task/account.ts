import { errors } from '../../domain/shared/errors.ts'
import type { Quota } from '../../domain/task/quota.ts'
import type { Queryable, Sql, Transaction } from '../client.ts'

/** Cost of a new task for its account. */
interface Cost {
  account: string
  credits: number
  bytes: number
}

/** Limits by the settings; those of the account's own row go before them. */
export interface AccountLimits {
  /** Absent: no bound. */
  quota?: Quota | undefined
  /** Most that charges minus refunds may be; absent: no bound. */
  creditLimit?: number | undefined
  /** API key with a cap that the request has come with. */
  apiKeyId?: string | undefined
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
    sql<Omit<Used, 'tasks'>[]>`
      insert into owner as o (id, credits_used, stored_bytes)
      values (${account}, ${credits}, ${bytes})
      on conflict (id) do update set
        credits_used = o.credits_used + excluded.credits_used,
        stored_bytes = o.stored_bytes + excluded.stored_bytes
      returning credits_used::float8 as credits, stored_bytes::float8 as bytes, ${limitsOf(sql, limits)}
    `.execute(),
    // Begins once the row is locked, so it sees the tasks of those who held the lock before.
    sql<{ tasks: number }[]>`
      select count(*)::integer as tasks from task
      where account = ${account} and ended_at is null and coalesce(
        (select task_limit from owner where id = ${account}), ${limits.quota?.tasks ?? null}::integer
      ) is not null
    `.execute(),
  ])
  if (!used || !open) throw new Error('an account without a row')
  rejectMore({ ...used, ...open }, credits, limits)
  // Behind the row of the account, as a refund has them.
  await chargeApiKey(sql, credits, limits)
}

/** Adds credits to what a key with a cap has used. Throws 402. */
const chargeApiKey = async (
  sql: Queryable,
  credits: number,
  { apiKeyId }: AccountLimits,
): Promise<void> => {
  if (apiKeyId === undefined) return
  const [key] = await sql<{ used: number; cap: number }[]>`
    update api_key set credits_used = credits_used + ${credits}
    where id = ${apiKeyId} returning credits_used::float8 as used, credit_cap::float8 as cap
  `
  if (key && key.used > key.cap) throw errors.keyCreditsSpent(credits, key)
}

/** Selects the limits of a row of `owner`, or those of the settings. */
const limitsOf = (sql: Queryable, { quota, creditLimit }: AccountLimits) => sql`
  coalesce(credit_limit, ${creditLimit ?? null}::bigint)::float8 as "mostCredits",
  coalesce(task_limit, ${quota?.tasks ?? null}::integer) as "mostTasks",
  coalesce(byte_limit::float8, ${quota?.bytes ?? null}::float8) as "mostBytes"
`

/** Throws what `chargeAccount` would throw for a further task, and charges nothing. */
export const checkAccount = async (
  sql: Sql,
  { account, credits, bytes }: Cost,
  limits: AccountLimits,
): Promise<void> => {
  const [used] = await sql<Used[]>`
    select coalesce(credits_used, 0)::float8 + ${credits}::integer as credits,
      coalesce(stored_bytes, 0)::float8 + ${bytes}::bigint as bytes,
      1 + (
        select count(*)::integer from task where account = ${account} and ended_at is null
          and coalesce(task_limit, ${limits.quota?.tasks ?? null}::integer) is not null
      ) as tasks, ${limitsOf(sql, limits)}
    from (select ${account}::text as id) account
    left join owner using (id)
  `
  if (used) rejectMore(used, credits, limits)
  if (limits.apiKeyId === undefined) return
  const [key] = await sql<{ used: number; cap: number }[]>`
    select credits_used::float8 + ${credits} as used, credit_cap::float8 as cap
    from api_key where id = ${limits.apiKeyId}
  `
  if (key && key.used > key.cap) throw errors.keyCreditsSpent(credits, key)
}

/** Finds the limit of open tasks that an account has of its own, with their number, once it has used so large a part. */
export const findUsedLimit = async (
  sql: Sql,
  { account, part }: { account: string; part: number },
): Promise<{ most: number; open: number } | undefined> => {
  const [row] = await sql<{ most: number; open: number }[]>`
    select o.task_limit as most, t.open from owner o
    cross join lateral (
      select count(*)::integer as open from task where account = o.id and ended_at is null
    ) t
    where o.id = ${account} and o.task_limit is not null
      and ceil(o.task_limit * ${part}::float8) <= t.open
  `
  return row
}

/** Counts the open tasks of an account. */
export const countOpenTasks = async (sql: Sql, account: string): Promise<number> => {
  const [row] = await sql<{ open: number }[]>`
    select count(*)::integer as open from task where account = ${account} and ended_at is null
  `
  return row?.open ?? 0
}

/** Use of an account, a further task included, and its limits: null for none. Without a limit tasks are not counted. */
interface Used {
  credits: number
  bytes: number
  tasks: number
  mostCredits: number | null
  mostTasks: number | null
  mostBytes: number | null
}

const rejectMore = (used: Used, credits: number, { quota }: AccountLimits): void => {
  const { mostCredits, mostTasks, mostBytes } = used
  if (mostCredits !== null && used.credits > mostCredits)
    throw errors.insufficientCredits(credits, Math.max(0, mostCredits - used.credits + credits))
  if (mostTasks !== null && used.tasks > mostTasks)
    throw errors.taskQuotaExceeded(used.tasks - 1, mostTasks)
  // Results are never rejected, so the account may be over it already.
  if (mostBytes !== null && used.bytes > mostBytes)
    throw errors.byteQuotaExceeded(mostBytes, quota?.retentionDays)
}

/** Passes the quota to the charge of an image task, which its COMMIT makes. */
export const setQuota = async (sql: Transaction, quota: Quota | undefined): Promise<void> => {
  if (quota)
    await sql`
      select set_config('kiln.most_tasks', ${String(quota.tasks)}, true),
        set_config('kiln.most_bytes', ${String(quota.bytes)}, true)
    `
}

/** Converts the error of a COMMIT that passes a quota of an account to 429 `quota_exceeded`; returns any other as it is. */
export const toQuotaError = async (
  sql: Sql,
  error: unknown,
  { account, quota }: { account: string; quota: Quota },
): Promise<unknown> => {
  const { code, detail } = (error ?? {}) as { code?: unknown; detail?: unknown }
  const most = Number(detail)
  if (code === 'KQ001') return errors.taskQuotaExceeded(await countOpenTasks(sql, account), most)
  return code === 'KQ002' ? errors.byteQuotaExceeded(most, quota.retentionDays) : error
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
  const [used] = await sql<{ bytes: number; most: number }[]>`
    insert into owner as o (id, stored_bytes) values (${account}, greatest(0, ${bytes}::bigint))
    on conflict (id) do update set stored_bytes = o.stored_bytes + ${bytes}
    returning stored_bytes::float8 as bytes, coalesce(byte_limit, ${quota.bytes}::bigint)::float8 as most
  `
  if (used && bytes > 0 && used.bytes > used.most)
    throw errors.byteQuotaExceeded(used.most, quota.retentionDays)
}
