import { MAX_ITEMS } from '../../domain/bulk/bulk.ts'
import type { OperationAction } from '../../domain/bulk/operation.ts'
import { ANONYMOUS } from '../../../platform/domain/account.ts'
import type { Fragment, Queryable, Transaction } from '../../../platform/db/client.ts'
import { isCancellable, readTaskQuery, selectTasks } from '../task-list.ts'
import { isMissed } from '../event-log.ts'
import type { OperationRequest } from './operation.ts'

/** Longest choice in milliseconds. No other statement of a request may take as long; an owner has one at a time. */
export const CHOICE_MS = 10_000

/** The condition that an action can be done with `task t` as it is now. */
const IS_POSSIBLE: Record<OperationAction, (sql: Queryable) => Fragment> = {
  cancel: (sql) => sql`t.ended_at is null and ${isCancellable(sql)}`,
  delete: (sql) => sql`t.delete_requested_at is null`,
  redeliver: (sql) => sql`exists (select from event e where e.task_id = t.id and ${isMissed(sql)})`,
  run_again: (sql) => sql`
    t.delete_requested_at is null and t.owner <> ${ANONYMOUS} and (t.purged_at is null or not exists (
      select from task_input i where i.task_id = t.id and i.name is not null
    ))
  `,
}

/**
 * Gives an operation the tasks that its filter finds, newest first, or none where these are too many. Returns how many
 * there are. The caller holds the lock of `lockBulks`. Without an id it only counts, also the tasks that can be acted
 * on.
 */
export const chooseTasks = async (
  sql: Transaction,
  { action, filter: { task_ids: ids, ...query }, of }: OperationRequest,
  bulkId?: string,
): Promise<{ found: number; possible: number }> => {
  const owned = of === undefined ? sql`` : sql`and t.owner = ${of}`
  const tasks = ids
    ? sql`select * from task t where t.id = any(${ids}::uuid[]) ${owned}`
    : selectTasks(sql, { ...readTaskQuery(query), owner: of, families: undefined })
  const [row] = await sql<{ found: number; possible: number }[]>`
    with chosen as materialized (
      select t.id, row_number() over (order by t.created_at desc, t.id desc) as place,
        ${bulkId === undefined ? IS_POSSIBLE[action](sql) : sql`true`} as "isPossible"
      from (${tasks}) t
    ), given as (
      insert into bulk_item (bulk_id, index, task_id)
      select b.id, c.place - 1, c.id from bulk b cross join chosen c
      where b.id = ${bulkId ?? null} and (select count(*) from chosen) <= ${MAX_ITEMS}
    )
    select count(*)::integer as found, (count(*) filter (where "isPossible"))::integer as possible
    from chosen
  `
  return row ?? { found: 0, possible: 0 }
}

/** Most unknown ids that one response names. */
const MAX_NAMED = 100

/** Lists the ids that no task has, or no task of the owner `of`, with their places in the list. */
export const listUnknownTasks = async (
  sql: Transaction,
  { ids, of }: { ids: readonly string[]; of: string | undefined },
): Promise<{ at: number; id: string }[]> => {
  const owned = of === undefined ? sql`` : sql`and t.owner = ${of}`
  return await sql<{ at: number; id: string }[]>`
    select (place - 1)::integer as at, id
    from unnest(${[...ids]}::uuid[]) with ordinality given (id, place)
    where not exists (select from task t where t.id = given.id ${owned})
    order by place
    limit ${MAX_NAMED}
  `
}
