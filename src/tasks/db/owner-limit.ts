import type { NewOwnerLimits, OwnerLimits } from '../domain/owner-limit.ts'
import type { EngineName } from '../domain/engine.ts'
import type { Queryable, Sql, Transaction } from '../../platform/db/client.ts'
import { instant } from '../../platform/db/instant.ts'

type Row = { [Name in keyof OwnerLimits]-?: OwnerLimits[Name] | null }

const columns = (sql: Queryable) => sql`
  o.id as owner, o.slots, o.credit_limit::float8 as credit_limit, o.task_limit, o.byte_limit::float8 as byte_limit,
  o.rate_factor, o.engine, o.note, o.limited_by as set_by, ${instant(sql, sql`o.limited_at`)} as set_at,
  jsonb_build_object('credits', o.credits_used, 'bytes', o.stored_bytes,
    'slots', (select count(*) from task where owner = o.id and family = 'video' and ended_at is null
      and admitted_at is not null),
    'tasks', (select count(*) from task where account = o.id and ended_at is null)) as used
`

const toLimits = (row: Row): OwnerLimits =>
  Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as OwnerLimits

export const listOwnerLimits = async (sql: Sql): Promise<OwnerLimits[]> => {
  const rows = await sql<Row[]>`
    select ${columns(sql)} from owner o where o.limited_by is not null order by o.id limit 1000
  `
  return rows.map(toLimits)
}

/** Finds the limits of an owner, with what it has used; undefined when it has never made anything. */
export const findOwnerLimits = async (
  sql: Queryable,
  owner: string,
): Promise<OwnerLimits | undefined> => {
  const [row] = await sql<Row[]>`select ${columns(sql)} from owner o where o.id = ${owner}`
  return row && toLimits(row)
}

/** Sets all limits of an owner; absent ones are the settings' again. Locks the owner's row until the commit. */
export const putOwnerLimits = async (
  sql: Transaction,
  { owner, by, limits }: { owner: string; by: string | null; limits: NewOwnerLimits },
): Promise<void> => {
  const { slots = null, credit_limit: credits = null, task_limit: tasks = null } = limits
  const { byte_limit: bytes = null, rate_factor: rate = null, engine = null, note = null } = limits
  await sql`
    insert into owner (id) values (${owner}) on conflict (id) do nothing
  `
  await sql`
    update owner
    set slots = ${slots}, credit_limit = ${credits}, task_limit = ${tasks}, byte_limit = ${bytes},
      rate_factor = ${rate}, engine = ${engine}, note = ${note}, limited_by = ${by},
      limited_at = case when ${by}::text is not null then clock_timestamp() end
    where id = ${owner}
  `
}

/** Rules of an owner that each process keeps in memory. */
export interface OwnerRules {
  owner: string
  rateFactor: number | null
  engine: EngineName | null
}

export const listOwnerRules = async (sql: Sql): Promise<OwnerRules[]> =>
  await sql<OwnerRules[]>`
  select id as owner, rate_factor as "rateFactor", engine from owner
  where limited_by is not null and (rate_factor is not null or engine is not null)
  order by id
`
