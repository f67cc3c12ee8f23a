import type { Queryable } from '../../platform/db/client.ts'

/** A row of the provider. Ids are SHA-256, the payload is encrypted. */
export interface ProviderRecord {
  model: string
  id: string
  payload: string
  accountId?: string | undefined
  grantId?: string | undefined
  uid?: string | undefined
  userAgent?: string | undefined
  seconds: number
}

export const putRecord = async (sql: Queryable, record: ProviderRecord): Promise<void> => {
  const { model, id, payload, accountId, grantId, uid, userAgent, seconds } = record
  await sql`
    insert into sign_in_record (model, id, payload, account_id, grant_id, uid, user_agent, expires_at)
    values (${model}, ${id}, ${payload}, ${accountId ?? null}, ${grantId ?? null}, ${uid ?? null},
      ${userAgent ?? null}, now() + make_interval(secs => ${seconds}))
    on conflict (model, id) do update set
      payload = excluded.payload,
      account_id = excluded.account_id,
      user_agent = excluded.user_agent,
      expires_at = excluded.expires_at
  `
}

/** Payload of a record, with the second since 1970 at which it was consumed; null while it may be used. */
export interface FoundRecord {
  id: string
  payload: string
  consumed: number | null
}

/** Within this time a refresh token may be used again: its response was lost, or two tabs had it. */
const REPEAT = '30 seconds'

export const findRecord = async (
  sql: Queryable,
  model: string,
  id: string,
): Promise<FoundRecord | undefined> => {
  const [row] = await sql<FoundRecord[]>`
    select ${found(sql)} from sign_in_record
    where model = ${model} and id = ${id} and expires_at > now()
  `
  return row
}

export const findRecordByUid = async (
  sql: Queryable,
  model: string,
  uid: string,
): Promise<FoundRecord | undefined> => {
  const [row] = await sql<FoundRecord[]>`
    select ${found(sql)} from sign_in_record
    where uid = ${uid} and model = ${model} and expires_at > now()
  `
  return row
}

const found = (sql: Queryable) => sql`
  id, payload, case when not ${isUsable(sql)} then extract(epoch from consumed_at)::int end as consumed
`

const isUsable = (sql: Queryable) => sql`
  (consumed_at is null or (model = 'RefreshToken' and consumed_at > now() - ${REPEAT}::interval))
`

/** Consumes a code or refresh token; false for the second of two that do it with a code at once. */
export const consumeRecord = async (
  sql: Queryable,
  model: string,
  id: string,
): Promise<boolean> => {
  const rows = await sql`
    update sign_in_record set consumed_at = coalesce(consumed_at, clock_timestamp())
    where model = ${model} and id = ${id} and ${isUsable(sql)}
    returning id
  `
  return rows.length > 0
}

export const deleteRecord = async (sql: Queryable, model: string, id: string): Promise<void> => {
  await sql`delete from sign_in_record where model = ${model} and id = ${id}`
}

export const deleteRecordsOfGrant = async (
  sql: Queryable,
  model: string,
  grantId: string,
): Promise<void> => {
  await sql`delete from sign_in_record where grant_id = ${grantId} and model = ${model}`
}
