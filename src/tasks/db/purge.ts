import type { Fragment, Queryable, Sql } from '../../platform/db/client.ts'
import { purgeBatch } from '../../platform/db/purge.ts'
import { unitOfWork } from '../../platform/db/unit-of-work.ts'
import { lockOwnerOf } from './owner.ts'

/** The condition that an open task uses results or inputs of `task t`. */
export const usedByOpenTask = (sql: Queryable): Fragment => sql`
  exists (
    select from (
      select storage_key from task_result where task_id = t.id
      union all
      select storage_key from task_input where task_id = t.id
    ) file
    join task_input i on i.storage_key = file.storage_key
    join task open on open.id = i.task_id and open.ended_at is null
  )
`

/** Lists ended tasks whose files are due for removal by age, by request or by owner, unless an open task uses them. */
export const listTasksToPurge = async (sql: Sql, retentionDays: number): Promise<string[]> => {
  const rows = await sql<{ id: string }[]>`
    (
      select t.id from task t
      where t.purged_at is null and t.delete_requested_at is not null and t.ended_at is not null
        and not ${usedByOpenTask(sql)}
      ${purgeBatch(sql)}
    )
    union
    (
      select t.id from task t
      where t.purged_at is null
        and t.ended_at < now() - make_interval(days => ${retentionDays})
        and not ${usedByOpenTask(sql)}
      order by t.ended_at
      ${purgeBatch(sql)}
    )
    union
    (
      select t.id from task t
      where t.purged_at is null and t.purge_at < now() and not ${usedByOpenTask(sql)}
      order by t.purge_at
      ${purgeBatch(sql)}
    )
  `
  return rows.map((row) => row.id)
}

/** The settings of a task without what its caller wrote. */
export const withoutTexts = (sql: Queryable): Fragment =>
  sql`settings - '{prompt,meta_data,wm_url,video_url}'::text[]`

/**
 * Records that the files of a task are gone, and clears its payload; of a deleted one all that its caller wrote. Its
 * account has the bytes again.
 */
export const markTaskPurged = (sql: Sql, id: string): Promise<void> =>
  unitOfWork({ sql }, async (sql) => {
    await lockOwnerOf(sql, id)
    await sql`
    with purged as (
      update task set purged_at = clock_timestamp(), payload = null, rev = rev + 1,
        settings = case when delete_requested_at is null then settings else ${withoutTexts(sql)} end,
        engine_error = case when delete_requested_at is null then engine_error end,
        labels = case when delete_requested_at is null then labels end
      where id = ${id} and purged_at is null
      returning id, account, stored_bytes, delete_requested_at is not null as is_deleted
    ), emptied as (
      update task_input i set url = '' from purged
      where i.task_id = purged.id and purged.is_deleted and i.url is not null
    ), forgotten as (
      update placement p set logs = null, prediction = null from purged
      where p.task_id = purged.id and p.logs is not null
    )
    update owner o set stored_bytes = o.stored_bytes - purged.stored_bytes
    from purged where o.id = purged.account
  `
  })

/** Lists the given ids that no task has. */
export const listUnknownTasks = async (sql: Sql, ids: readonly string[]): Promise<string[]> => {
  const rows = await sql<{ id: string }[]>`
    select given.id from unnest(${[...ids]}::uuid[]) as given (id)
    where not exists (select from task where task.id = given.id)
  `
  return rows.map((row) => row.id)
}

/** Uploads whose links have ended; links live up to an hour longer than the upload says. */
export const listUploadsToPurge = async (sql: Sql): Promise<string[]> => {
  const rows = await sql<{ id: string }[]>`
    select u.id
    from upload u
    where u.purged_at is null
      and u.expires_at < now() - interval '1 hour'
      and not exists (
        select from task_input i
        join task open on open.id = i.task_id and open.ended_at is null
        -- what begins so, said as the index can read it: '0' follows '/'
        where i.storage_key ~>=~ ('uploads/' || u.id || '/')
          and i.storage_key ~<~ ('uploads/' || u.id || '0')
      )
    order by u.expires_at
    ${purgeBatch(sql)}
  `
  return rows.map((row) => row.id)
}

export interface PurgedStorage {
  removePrefix(prefix: string): Promise<void>
}

/** Removes the files of an upload, then records that; a second run removes nothing. */
export const purgeUpload = async (
  { sql, storage }: { sql: Sql; storage: PurgedStorage },
  id: string,
): Promise<void> => {
  await storage.removePrefix(`uploads/${id}`)
  await markUploadPurged(sql, id)
}

const markUploadPurged = async (sql: Sql, id: string): Promise<void> => {
  await sql`
    with purged as (
      update upload set purged_at = clock_timestamp()
      where id = ${id} and purged_at is null
      returning owner, stored_bytes
    )
    update owner o set stored_bytes = o.stored_bytes - purged.stored_bytes
    from purged where o.id = purged.owner
  `
}
