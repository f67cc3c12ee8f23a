import type { Queryable, Transaction } from '../../platform/db/client.ts'
import { errors } from '../../platform/domain/errors.ts'
import { isLive } from './api-key.ts'

/** A page that a shop shows to each of its visitors needs one a visitor. */
const MAX_ALIVE = 100

export interface NewTaskToken {
  taskId: string
  /** Lower-case hex of the token; the token itself is never stored. */
  sha256: string
  /** User who makes it. */
  maker: string
  /** Credential that it is made with: an API key, or a session of AUTH=builtin. */
  keyId: string | undefined
  session: string | undefined
  /** Seconds until a bearer token ends that it is made with. */
  secondsLeft: number | undefined
}

/**
 * Inserts a token for a task. Returns when it ends: after an hour, or with the credential. Throws 429 where as many are
 * alive as may be, and 401 where the credential has just ended.
 */
export const insertTaskToken = async (
  sql: Transaction,
  { taskId, sha256, maker, keyId = null, session = null, secondsLeft = null }: Nullable,
): Promise<Date> => {
  // Two at once would both see the last place free.
  await sql`select pg_advisory_xact_lock(hashtextextended('task token ' || ${taskId}, 0))`
  const [row] = await sql<{ expiresAt: Date; isLive: boolean }[]>`
    insert into task_token as k (sha256, task_id, maker, api_key_id, session_uid, expires_at)
    select ${sha256}, ${taskId}::uuid, ${maker}, ${keyId}::uuid, ${session}, least(
      clock_timestamp() + make_interval(secs => least(3600, ${secondsLeft}::float8)),
      (select expires_at from api_key where id = ${keyId}::uuid)
    )
    where ${MAX_ALIVE} > (select count(*) from task_token k where task_id = ${taskId} and ${isAlive(sql)})
    returning expires_at as "expiresAt", expires_at > clock_timestamp() as "isLive"
  `
  if (!row) throw errors.taskTokenQuotaExceeded(MAX_ALIVE)
  if (!row.isLive) throw errors.unauthorized(new Error('ended before the token was made'))
  return row.expiresAt
}

type Nullable = { [Name in keyof NewTaskToken]: NewTaskToken[Name] | null }

/** Finds the task of a token that is alive, and the owner of the task. */
export const findTaskToken = async (
  sql: Queryable,
  sha256: string,
): Promise<{ taskId: string; owner: string } | undefined> => {
  const [row] = await sql<{ taskId: string; owner: string }[]>`
    select t.id as "taskId", t.owner from task_token k join task t on t.id = k.task_id
    where k.sha256 = ${sha256} and ${isAlive(sql)}
  `
  return row
}

/** Ends the tokens that a user has made for tasks of others. */
export const endTokensOnOthers = async (sql: Transaction, maker: string): Promise<void> => {
  await sql`
    delete from task_token k using task t
    where k.maker = ${maker} and t.id = k.task_id and t.owner <> k.maker
  `
}

/** The condition that neither token `k` nor the credential that it was made with has ended. */
const isAlive = (sql: Queryable) => sql`(
  k.expires_at > clock_timestamp()
  and (k.api_key_id is null or exists (
    select from api_key where api_key.id = k.api_key_id and ${isLive(sql)}
  ))
  and (k.session_uid is null or exists (
    select from sign_in_record r
    where r.uid = k.session_uid and r.account_id = k.maker and r.model = 'Session' and r.expires_at > now()
  ))
)`
