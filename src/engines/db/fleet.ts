import type { EngineName } from '../../tasks/domain/engine.ts'
import type {
  Abilities,
  FleetInstance,
  InstanceState,
  ModelFile,
  Waiting,
} from '../../tasks/domain/fleet.ts'
import type { Queryable, Sql } from '../../platform/db/client.ts'
import { instant } from '../../platform/db/instant.ts'
import type { AwaitedEngine, FailingEngine } from '../domain/engine-problem.ts'
import { FAMILIES } from '../../tasks/domain/family.ts'
import { isPaused } from '../../tasks/db/pause.ts'
import { NO_INSTANCE } from '../../tasks/domain/waits-for.ts'
import { openThere } from './placement.ts'

export interface InstanceDetail extends Omit<FleetInstance, 'models'> {
  /** Null: no worker has read them yet. */
  abilities: Abilities | null
  /** That it does not respond, and why; null where it does. */
  silence: string | null
}

/** State of `instance i` for an operator. Workers read a response of each that responds twice a minute. */
const stateOf = (sql: Queryable) => sql`
  case
    when i.state = 'down' or i.seen_at < now() - interval '2 minutes' then 'gone'
    when i.quarantined_at is not null then 'quarantined'
    when i.drained_at is not null or i.state = 'leaving' then 'draining'
    when i.state <> 'up' then 'stalled'
    when i.rests_until > now() then 'resting'
    when exists (select from ${openThere(sql, sql`i.name`)}) then 'busy'
    else 'ready'
  end
`

/** Why `instance i` cannot be asked, in the present; null where it responds. A status of 5xx is a response, too. */
const silenceOf = (sql: Queryable) => sql`
  case when i.silence like 'responded with %' then 'responds' || substr(i.silence, 10)
    else 'does not respond: ' || i.silence end
`

/** Lists all instances with their open tasks, and with the ends of the 10,000 newest placements of a day. */
export const listInstanceDetails = async (sql: Sql): Promise<InstanceDetail[]> =>
  await sql<InstanceDetail[]>`
  with recent as materialized (
    select instance, state, detail, at from placement
    where at > now() - interval '1 day'
    order by at desc
    limit 10000
  ), ends as (
    select instance, json_agg(json_build_object('end', state, 'count', count) order by count desc) as list
    from (select instance, state, count(*) from recent where state <> 'open' group by 1, 2) counted
    group by 1
  ), errors as (
    select distinct on (instance) instance, detail, at from recent
    where detail <> '' order by instance, at desc
  )
  select i.name, i.engine, ${stateOf(sql)} as state, i.drained_at is not null as is_drained, i.version,
    i.template, i.abilities, ${silenceOf(sql)} as silence,
    ${instant(sql, sql`i.seen_at`)} as seen_at,
    coalesce(${silenceOf(sql)}, errors.detail, i.reason) as last_error,
    ${instant(sql, sql`case when i.silence is null then coalesce(errors.at, i.quarantined_at) else i.state_at end`)}
      as last_error_at,
    coalesce(ends.list, '[]') as ends,
    coalesce((
      select json_agg(json_build_object('id', t.id, 'kind', t.kind, 'template', p.template,
        'since', ${instant(sql, sql`p.at`)}) order by p.at)
      from ${openThere(sql, sql`i.name`)}
    ), '[]') as tasks
  from instance i
  left join ends on ends.instance = i.name
  left join errors on errors.instance = i.name
  order by i.name
`

export const countInstances = async (
  sql: Sql,
): Promise<{ state: InstanceState; count: number }[]> =>
  await sql`
  select state, count(*)::integer as count
  from (select ${stateOf(sql)} as state from instance i order by i.name) stated group by 1
`

/**
 * Counts the open tasks of the fleet that no instance has, admitted or put back because none can take them, by the kind that their templates are named after.
 * A worker decides which template of the kind a task gets.
 */
export const countWaiting = async (sql: Sql): Promise<Waiting[]> =>
  await sql<Waiting[]>`
  with waiting as (
    select case when family = 'image' or kind = 'extend' then kind else 'text2video' end as template,
      last_moved_at, waits_for
    from (
      select * from task t
      where ended_at is null and engine not in ('local', 'vendor')
        and (exists (select from instance) or exists (select from worker w where w.slots ? t.engine))
      order by last_moved_at
      limit 10000
    ) t
    where not exists (select from placement p where p.task_id = t.id and p.state = 'open')
      and coalesce(starts_with(waits_on, ${NO_INSTANCE}), true)
  )
  select template, count(*)::integer as tasks,
    extract(epoch from now() - min(last_moved_at))::float8 as oldest_seconds,
    coalesce((
      select json_agg(json_build_object('reason', reason, 'tasks', count) order by count desc, reason)
      from (
        select reason, count(*) from waiting w, unnest(w.waits_for) as reason
        where w.template = waiting.template
        group by 1
        order by 2 desc, 1
        limit 20
      ) counted
    ), '[]') as reasons
  from waiting
  group by 1
  order by 2 desc, 1
`

/** Lists what the instances can run that may be given tasks now, with the engine of each. */
export const listServing = async (
  sql: Sql,
): Promise<{ engine: EngineName; abilities: Abilities }[]> =>
  await sql`
  select engine, abilities
  from (
    select coalesce(i.engine, 'comfyui') as engine, coalesce(abilities, '{}') as abilities,
      ${stateOf(sql)} as state
    from instance i order by i.name
  ) stated
  where state not in ('gone', 'quarantined', 'draining')
`

/** Lists the engines of ENGINES_HTTP that have instances. */
export const listEngines = async (sql: Sql): Promise<string[]> => {
  const rows = await sql<{ engine: string | null }[]>`select engine from instance order by name`
  return [...new Set(rows.flatMap(({ engine }) => engine ?? []))]
}

/** Lists the engines of ENGINES_HTTP that are no kind yet, with what their instances lack. */
export const listAwaitedEngines = async (sql: Sql): Promise<AwaitedEngine[]> =>
  await sql`
  select engine, array(
    select i.name || ' ' || coalesce(${silenceOf(sql)},
      (select string_agg(issue #>> '{}', ', ') from jsonb_path_query(i.abilities, '$.*.issues[*]') issue),
      case when i.abilities is null then 'has not responded yet' else 'responds' end)
    from instance i where i.engine = served.engine order by i.name
  ) as reasons
  from (
    select distinct jsonb_object_keys(w.slots) as engine from worker w where is_alive(w)
  ) served
  where engine not in ('local', 'vendor', 'comfyui')
    and not exists (select from template t where t.name = served.engine and t.removed_at is null)
  order by engine
`

/** An instance that is late for less may only be busy. */
const STALLED_SECONDS = 10

/** Named in a statement, so that the indexes that begin with the family serve. */
const NAMES = Object.keys(FAMILIES)

/** Lists the engines that workers serve and whose breaker is open, or none of whose instances takes a task. */
export const listFailingEngines = async (sql: Sql): Promise<FailingEngine[]> =>
  await sql`
  with stated as (
    select i.*, coalesce(i.engine, 'comfyui') as fleet, ${stateOf(sql)} as shown, ${silenceOf(sql)} as silent
    from instance i
  ), away as (
    select fleet as engine, max(coalesce(quarantined_at, seen_at)) as since, array_agg(
      name || ' ' || coalesce(silent, case shown
        when 'quarantined' then 'needs a restart' || coalesce(': ' || reason, '')
        when 'draining' then 'is drained' when 'stalled' then 'makes no progress' end,
        'does not respond') order by name) as reasons
    from stated
    where exists (select from worker w where is_alive(w) and w.slots ? stated.fleet)
    group by fleet
    having bool_and(shown in ('gone', 'quarantined', 'draining') or shown = 'stalled'
        and state_at < now() - make_interval(secs => ${STALLED_SECONDS}))
  ), failing as (
    select engine, null as scope, null as family, since, reasons from away
    union all
    select split_part(scope, ':', 2), scope, nullif(split_part(scope, ':', 3), ''), opened_at, array(
      select p.detail
      from (select * from placement order by at desc limit 10000) p
      join instance i on i.name = p.instance
      where coalesce(i.engine, 'comfyui') = split_part(scope, ':', 2) and p.detail <> ''
        and p.at > now() - interval '1 day'
      order by p.at desc limit 1)
    from breaker
    where opened_at is not null and split_part(scope, ':', 2) not in (select engine from away)
      and exists (select from worker w where is_alive(w) and w.slots ? split_part(scope, ':', 2))
  )
  select engine, scope, ${instant(sql, sql`since`)} as since, reasons, (
      select count(*)::integer from (
        (select from task t
        where t.family = any(${NAMES}) and t.engine = f.engine and t.ended_at is null
          and t.family = coalesce(f.family, t.family)
          and t.waits_on is not null and t.waits_on <> 'later' and not ${isPaused(sql, sql`t`)}
        limit 10000)
        union all
        (select from task t
        where t.family = any(${NAMES}) and t.engine = f.engine and t.ended_at is null
          and f.scope is null and t.waits_on is null and t.claimed_at is null
        limit 10000)
        union all
        (select from instance i, lateral (select from ${openThere(sql, sql`i.name`)}) there
        where f.scope is null and coalesce(i.engine, 'comfyui') = f.engine)
      ) waiting
    ) as tasks
  from failing f
  order by since, engine, scope
`

/** Takes the turn to read what an instance can run: every half minute one of all workers has it. */
export const leaseReading = async (sql: Sql, name: string): Promise<boolean> => {
  const { count } = await sql`
    update instance set seen_at = clock_timestamp()
    where name = ${name}
      and (abilities is null or seen_at < clock_timestamp() - interval '30 seconds')
  `
  return count > 0
}

/** Records what an instance is and can run. */
export const recordAbilities = async (
  sql: Sql,
  {
    name,
    version,
    abilities,
    modelFiles,
  }: {
    name: string
    version: string
    abilities: Abilities
    /** Undefined: those of before. */
    modelFiles?: readonly string[] | undefined
  },
): Promise<void> => {
  await sql`
    update instance set version = ${version}, abilities = ${sql.json(abilities as never)},
      model_files = coalesce(${modelFiles ? [...modelFiles] : null}::text[], model_files)
    where name = ${name}
  `
}

/** Finds the instances that have each of these models, by the name of its file; where its folder is given, there alone. */
export const findModelInstances = async (
  sql: Sql,
  models: readonly Pick<ModelFile, 'file' | 'folder'>[],
): Promise<Map<string, string[]>> => {
  const rows = await sql<{ file: string; instances: string[] }[]>`
    select asked.file, array_agg(distinct i.name order by i.name) as instances
    from (select name, model_files from instance order by name) i
    cross join lateral unnest(i.model_files) as has (path)
    join unnest(${models.map(({ file }) => file)}::text[],
      ${models.map(({ folder }) => folder ?? null)}::text[]) as asked (file, folder)
      on substr(has.path, strpos(has.path, '/') + 1) = replace(asked.file, '\\', '/')
      and coalesce(starts_with(has.path, asked.folder || '/'), true)
    group by asked.file
  `
  return new Map(rows.map(({ file, instances }) => [file, instances]))
}

/** An instance before or after a change of an operator. */
export interface DrainedInstance {
  name: string
  status: 'draining' | 'serving'
}

/** Has an instance take no placements, or take them again. Returns how it was; undefined: there is none of this name. */
export const drainInstance = async (
  sql: Queryable,
  { name, isDrained }: { name: string; isDrained: boolean },
): Promise<DrainedInstance['status'] | undefined> => {
  const [was] = await sql<{ isDrained: boolean }[]>`
    update instance i
    set drained_at = case when ${isDrained} then coalesce(i.drained_at, clock_timestamp()) end
    from (select name, drained_at from instance where name = ${name} for update) old
    where i.name = old.name
    returning old.drained_at is not null as "isDrained"
  `
  return was && (was.isDrained ? 'draining' : 'serving')
}
