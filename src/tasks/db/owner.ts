import type { Sql, Transaction } from '../../platform/db/client.ts'

/**
 * Locks the row of a task's owner and returns the owner; undefined when there is no such task. Every transaction that
 * changes a task which others can see takes this lock first, so no two of them wait for each other.
 */
export const lockOwnerOf = async (
  sql: Transaction,
  taskId: string,
): Promise<string | undefined> => {
  // Sent at once: statements that do not wait for the response go behind it.
  const [row] = await sql<{ id: string }[]>`
    select id from owner where id = (select owner from task where id = ${taskId}) for update
  `.execute()
  return row?.id
}

/** Refunds what a task was charged, unless that was done before. The caller holds the owner's lock. */
export const refundTask = async (sql: Transaction, id: string): Promise<void> => {
  await sql`
    with refund as (
      insert into ledger (task_id, kind, owner, credits, api_key_id)
      select task_id, 'refund', owner, credits, api_key_id
      from ledger where task_id = ${id} and kind = 'charge'
      on conflict (task_id, kind) do nothing
      returning owner, credits, api_key_id
    ), of_key as (
      update api_key set credits_used = credits_used - refund.credits
      from refund where api_key.id = refund.api_key_id
    )
    update owner set credits_used = credits_used - refund.credits from refund where id = refund.owner
  `
}

/** Credits and slots, with the owner's own limits: of what is absent the setting holds. */
export interface OwnerCredits {
  /** Charges minus refunds. */
  used: number
  /** Tasks that hold a slot. */
  running: number
  /** Open tasks that hold none. */
  waiting: number
  slots?: number
  creditLimit?: number
}

/** Credits and slots of an owner, or of one of the accounts that share it. */
export const findOwnerCredits = async (
  sql: Sql,
  owner: string,
  account = owner,
): Promise<OwnerCredits> => {
  const [row] = await sql<(typeof NOTHING)[]>`
    select
      coalesce((select credits_used from owner where id = ${account}), 0)::float8 as used,
      count(*) filter (where admitted_at is not null)::integer as running,
      count(*) filter (where admitted_at is null)::integer as waiting,
      (select slots from owner where id = ${owner}) as slots,
      (select credit_limit from owner where id = ${account})::float8 as "creditLimit"
    from task
    where owner = ${owner} and coalesce(account, owner) = ${account}
      and family = 'video' and ended_at is null
  `
  const { slots, creditLimit, ...used } = row ?? NOTHING
  return { ...used, ...(slots !== null && { slots }), ...(creditLimit !== null && { creditLimit }) }
}

const NOTHING = {
  used: 0,
  running: 0,
  waiting: 0,
  slots: null as number | null,
  creditLimit: null as number | null,
}
