import type { EngineName } from '../domain/engine.ts'
import type { Queryable, Sql } from '../../platform/db/client.ts'
import { instant } from '../../platform/db/instant.ts'
import { withoutSync } from '../../platform/db/without-sync.ts'

export interface WorkerRow {
  id: string
  /** Its name at Temporal. */
  identity: string
  role: string
  /** Tasks that it takes at once, by engine. */
  slots: Partial<Record<EngineName, number>>
}

/** Records that a worker lives, and forgets workers without such a record for a day. */
export const beatWorker = async (
  sql: Sql,
  { id, identity, role, slots }: WorkerRow,
): Promise<void> => {
  await sql`
    with old as (delete from worker where beat_at < now() - interval '1 day')
    insert into worker (id, identity, role, slots) values (${id}, ${identity}, ${role}, ${sql.json(slots)})
    on conflict (id) do update set beat_at = clock_timestamp(), slots = excluded.slots
    returning ${withoutSync(sql)}
  `
}

/** Records that a worker stops. */
export const endWorker = async (sql: Sql, id: string): Promise<void> => {
  await sql`update worker set ended_at = clock_timestamp() where id = ${id}`
}

/** Lists how many tasks of each engine the workers that live take at once. */
export const listSlots = async (sql: Queryable): Promise<Partial<Record<EngineName, number>>> => {
  const rows = await sql<{ engine: EngineName; slots: number }[]>`
    select key as engine, sum(value::integer)::integer as slots
    from worker, jsonb_each_text(slots) where is_alive(worker) group by key
  `
  return Object.fromEntries(rows.map(({ engine, slots }) => [engine, slots]))
}

/** Workers of the last day, by what each says of itself. */
export interface KnownWorkers {
  /** Roles of those that live. */
  roles: string[]
  /** Engines that those serve. */
  engines: string[]
  /** Identities of those that have stopped or are silent: Temporal names them for minutes still. */
  gone: string[]
}

/** A worker that has stopped or is silent. */
export interface EndedWorker {
  identity: string
  role: string
  engines: string[]
  /** Its last sign of life. */
  until: string
}

/** Lists the workers of the last day that live no more, the last one first. */
export const listEndedWorkers = async (sql: Queryable): Promise<EndedWorker[]> =>
  await sql`
  select identity, role, array(select jsonb_object_keys(slots)) as engines,
    ${instant(sql, sql`coalesce(ended_at, beat_at)`)} as until
  from worker
  where identity is not null and not is_alive(worker)
    and coalesce(ended_at, beat_at) > now() - interval '1 day'
  order by coalesce(ended_at, beat_at) desc limit 100
`

export const readWorkers = async (sql: Queryable): Promise<KnownWorkers> => {
  const [row] = await sql<KnownWorkers[]>`
    select coalesce(array_agg(distinct role) filter (where is_alive(worker)), '{}') as roles,
      array(
        select distinct jsonb_object_keys(w.slots) from worker w where is_alive(w)
      ) as engines,
      -- A process that starts again in its container has the host and the number of the one before.
      array(
        select identity from worker w where identity is not null
        group by identity having not bool_or(is_alive(w))
      ) as gone
    from worker
  `
  return row ?? { roles: [], engines: [], gone: [] }
}
