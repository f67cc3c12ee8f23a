import { errors } from '../../platform/domain/errors.ts'
import type { Quota } from '../domain/quota.ts'
import type { Queryable, Sql, Transaction } from '../../platform/db/client.ts'

/** Cost of a new task for its account. */
interface Cost {
  account: string
  credits: number
  bytes: number
}

/** Limits by the settings; limits in the account's own row go before them. */
export interface AccountLimits {
  /** Absent: no bound. */
  quota?: Quota | undefined
  /** Most that charges minus refunds may be; absent: no bound. */
  creditLimit?: number | undefined
  /** API key with a cap that the request has come with. */
  apiKeyId?: string | undefined
}

/** Selects the limits of a row of `owner`, or else of the settings. */
const limitsOf = (sql: Queryable, { quota, creditLimit }: AccountLimits) => sql`
  coalesce(credit_limit, ${creditLimit ?? null}::bigint)::float8 as "maxCredits",
  coalesce(task_limit, ${quota?.tasks ?? null}::integer) as "maxTasks",
  coalesce(byte_limit::float8, ${quota?.bytes ?? null}::float8) as "maxBytes"
`

/** Throws what the charge of a further task would end in, and charges nothing. */
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
  const [key] = await sql<KeyUse[]>`
    select credits_used::float8 + ${credits} as used, credit_cap::float8 as cap
    from api_key where id = ${limits.apiKeyId}
  `
  if (key && key.used > key.cap) throw errors.keyCreditsSpent(credits, key)
}

/** Finds the limit of open tasks that an account has of its own, with their number, once it has used so large a part. */
export const findUsedLimit = async (
  sql: Sql,
  { account, part }: { account: string; part: number },
): Promise<{ max: number; open: number } | undefined> => {
  const [row] = await sql<{ max: number; open: number }[]>`
    select o.task_limit as max, t.open from owner o
    cross join lateral (
      select count(*)::integer as open from task where account = o.id and ended_at is null
    ) t
    where o.id = ${account} and o.task_limit is not null
      and ceil(o.task_limit * ${part}::float8) <= t.open
  `
  return row
}

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
  maxCredits: number | null
  maxTasks: number | null
  maxBytes: number | null
}

const rejectMore = (used: Used, credits: number, { quota }: AccountLimits): void => {
  const { maxCredits, maxTasks, maxBytes } = used
  if (maxCredits !== null && used.credits > maxCredits)
    throw errors.insufficientCredits(credits, Math.max(0, maxCredits - used.credits + credits))
  if (maxTasks !== null && used.tasks > maxTasks)
    throw errors.taskQuotaExceeded(used.tasks - 1, maxTasks)
  // Results are never rejected, so the account may be over it already.
  if (maxBytes !== null && used.bytes > maxBytes)
    throw errors.byteQuotaExceeded(maxBytes, quota?.retentionDays)
}

/** A setting's text; empty for none. */
const text = (value: number | string | undefined): string => String(value ?? '')

/** Passes the limits to the charge of a task, which its COMMIT makes (trigger `task_charged`, 0064). */
export const setLimits = async (
  sql: Transaction,
  { quota, creditLimit, apiKeyId }: AccountLimits,
): Promise<void> => {
  await sql`
    select set_config('kiln.max_tasks', ${text(quota?.tasks)}, true),
      set_config('kiln.max_bytes', ${text(quota?.bytes)}, true),
      set_config('kiln.max_credits', ${text(creditLimit)}, true),
      set_config('kiln.api_key_id', ${text(apiKeyId)}, true)
  `
}

/** Converts the error of a COMMIT that passes a limit of an account to 402 or 429; returns any other as it is. */
export const toLimitError = async (
  sql: Sql,
  error: unknown,
  { account, credits, retentionDays }: LimitedTask,
): Promise<unknown> => {
  const { code, detail } = (error ?? {}) as { code?: unknown; detail?: string }
  const max = Number(detail)
  switch (code) {
    case 'KQ001':
      return errors.taskQuotaExceeded(await countOpenTasks(sql, account), max)
    case 'KQ002':
      return errors.byteQuotaExceeded(max, retentionDays)
    case 'KQ003':
      return errors.insufficientCredits(credits, max)
    case 'KQ004':
      return errors.keyCreditsSpent(credits, JSON.parse(detail ?? '') as KeyUse)
    default:
      return error
  }
}

/** The task of a COMMIT that may pass a limit. */
export interface LimitedTask {
  account: string
  credits: number
  retentionDays: number | undefined
}

interface KeyUse {
  used: number
  cap: number
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
  const [used] = await sql<{ bytes: number; max: number }[]>`
    insert into owner as o (id, stored_bytes) values (${account}, greatest(0, ${bytes}::bigint))
    on conflict (id) do update set stored_bytes = o.stored_bytes + ${bytes}
    returning stored_bytes::float8 as bytes, coalesce(byte_limit, ${quota.bytes}::bigint)::float8 as max
  `
  if (used && bytes > 0 && used.bytes > used.max)
    throw errors.byteQuotaExceeded(used.max, quota.retentionDays)
}
