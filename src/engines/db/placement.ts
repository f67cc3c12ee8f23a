import type { Fragment, Queryable, Sql, Transaction } from '../../platform/db/client.ts'
import type { Template } from '../domain/template/template.ts'
import { purgeBatch } from '../../platform/db/purge.ts'

export interface Placement {
  id: string
  instance: string
  template: string
  state: string
  /** This service has interrupted it, or was about to. */
  isInterrupted: boolean
}

export interface InstanceRow {
  name: string
  /** Why it may take no placement; null where it may. */
  hold: string | null
  /** It may take none until an operator has acted. */
  isOutOfService: boolean
  template: string | null
  /** Ids of our prompts there whose tasks have not ended. */
  open: string[]
  /** Ends of placements of the task there, but those that others were in the way of. */
  ended: string[]
  /** Members of the body that it has rejected, with the rule of each; null where it has rejected none. */
  rejection: string | null
}

/** Why an instance may take no placement; null of one that may. */
const holdOf = (sql: Queryable) => sql`
  case
    when drained_at is not null then 'is drained'
    when quarantined_at is not null then 'must be started again'
    when rests_until >= clock_timestamp() then 'rests after an error'
  end
`

/** Our prompts on an instance whose tasks have not ended. */
export const openThere = (sql: Queryable, instance: Fragment) => sql`
  placement p join task t on t.id = p.task_id
  where p.instance = ${instance} and p.cleaned_at is null and p.state = 'open'
    and p.ended_at is null and t.ended_at is null
`

/** Lists instances that a task may go to; the ones that nobody knows yet are inserted. */
export const listInstances = async (
  sql: Sql,
  { names, taskId }: { names: readonly string[]; taskId: string },
): Promise<InstanceRow[]> => {
  await sql`
    insert into instance (name) select unnest(${[...names]}::text[]) on conflict do nothing
  `
  return await sql<InstanceRow[]>`
    select i.name, i.template, ${holdOf(sql)} as hold,
      coalesce(drained_at, quarantined_at) is not null as "isOutOfService", array(select p.id from ${openThere(sql, sql`i.name`)}) as open,
      array(select p.state from placement p
        where p.task_id = ${taskId} and p.instance = i.name and p.state not in ('open', 'moved')) as ended,
      (select p.rejection from placement p
        where p.task_id = ${taskId} and p.instance = i.name and p.rejection is not null
        order by p.at desc limit 1) as rejection
    from instance i where i.name = any(${[...names]})
    order by i.name
  `
}

/** Lists those of some instances that may take placements. */
export const listFree = async (sql: Sql, names: readonly string[]): Promise<string[]> => {
  const rows = await sql<{ name: string }[]>`
    select name from instance where name = any(${[...names]}) and ${holdOf(sql)} is null
  `
  return rows.map(({ name }) => name)
}

export interface NewPlacement {
  id: string
  task: { id: string; fence: number }
  instance: { name: string; url: string }
  template: Pick<Template, 'name' | 'version'>
  inputs: readonly string[]
  /** Most open placements of the instance. */
  depth: number
  /** The task stays where it is until `movePlacement`. */
  isReserved?: boolean
}

/**
 * Gives a task to an instance, under the lock of its row: all workers count the same placements.
 * @returns false where it has become full or may take none; undefined when another attempt holds the fence; else the
 * template of the placement before
 */
export const insertPlacement = async (
  sql: Transaction,
  { id, task, instance: { name, url }, template, inputs, depth, isReserved = false }: NewPlacement,
): Promise<{ template: string | null } | false | undefined> => {
  const [free] = await sql<{ template: string | null }[]>`
    select template from instance
    where name = ${name} and coalesce(url = ${url}, true) and ${holdOf(sql)} is null for update
  `
  if (!free) return false
  const [load] = await sql<{ open: number }[]>`
    select count(*)::integer as open from ${openThere(sql, sql`${name}`)}
  `
  if (!load || load.open >= depth) return false
  const { count } = await sql`
    update task set upstream_id = ${isReserved ? sql`upstream_id` : `${name}/${id}`},
      template_version_id = (select id from template_version
        where name = ${template.name} and digest = ${template.version}),
      waits_for = null, rev = rev + (waits_for is not null)::integer
    where id = ${task.id} and fence = ${task.fence} and ended_at is null
  `
  if (count === 0) return undefined
  await sql`
    insert into placement (id, task_id, instance, template, inputs)
    values (${id}, ${task.id}, ${name}, ${template.name}, ${[...inputs]})
  `
  await sql`
    update instance set template = case when ${isReserved}::boolean then template else ${template.name} end
    where name = ${name}
  `
  return free
}

/**
 * Moves a task, whose prompt was taken out of a queue, to the placement that is reserved for it. False: another attempt
 * holds the fence.
 */
export const movePlacement = async (
  sql: Transaction,
  { task, from, to }: { task: { id: string; fence: number }; from: string; to: string },
): Promise<boolean> => {
  const { count } = await sql`
    update task set upstream_id = p.instance || '/' || p.id
    from placement p
    where p.id = ${to} and task.id = ${task.id} and fence = ${task.fence} and task.ended_at is null
  `
  if (count === 0) return false
  await sql`
    update placement set state = 'moved', detail = 'another instance was idle',
      ended_at = clock_timestamp()
    where id = ${from}
  `
  // Of the placements that stay, the models of the last one will be loaded.
  await sql`
    update instance i set template = (
      select template from placement p
      where p.instance = i.name and p.cleaned_at is null and p.state <> 'moved'
      order by p.at desc limit 1)
    where name in (select instance from placement where id in (${from}, ${to}))
  `
  return true
}

/** Deletes a placement that nothing was sent to. */
export const deletePlacement = async (sql: Sql, id: string): Promise<void> => {
  await sql`delete from placement where id = ${id}`
}

/**
 * Records why a task waits for an instance. False: that was recorded before, or another attempt holds the fence.
 * @param reasons what each lacks; empty where one is only busy; null: it waits no more
 */
export const recordWait = async (
  sql: Sql,
  { id, fence, reasons: given }: { id: string; fence: number; reasons: readonly string[] | null },
): Promise<boolean> => {
  const reasons = given && [...given]
  const { count } = await sql`
    update task set waits_for = ${reasons}, rev = rev + 1
    where id = ${id} and fence = ${fence} and ended_at is null
      and waits_for is distinct from ${reasons}::text[]
  `
  return count > 0
}

/** Finds the placements of a task, in their order. */
export const listPlacements = async (sql: Sql, taskId: string): Promise<Placement[]> =>
  await sql<Placement[]>`
  select id, instance, template, state, interrupted_at is not null as "isInterrupted"
  from placement where task_id = ${taskId} order by at
`

/** Records that the instance is done with a placement, whose results are still to be fetched: a success shows that it works. */
export const recordRun = async (
  sql: Sql,
  { id, isSuccess }: { id: string; isSuccess: boolean },
): Promise<void> => {
  await sql`
    with ended as (
      update placement set ended_at = clock_timestamp()
      where id = ${id} and state = 'open' and ended_at is null
      returning instance
    )
    update instance set broken_by = null
    where name = (select instance from ended) and broken_by is not null and ${isSuccess}
  `
}

interface FencedPlacement {
  id: string
  task: { id: string; fence: number }
}

const isFenced = (sql: Queryable, { task: { id, fence } }: FencedPlacement) => sql`
  exists (select from task where id = ${id} and fence = ${fence} and ended_at is null)
`

/** Records that this service interrupts a prompt. False: a newer attempt follows it, or the task has ended. */
export const recordInterrupt = async (sql: Sql, placement: FencedPlacement): Promise<boolean> => {
  const { count } = await sql`
    update placement set interrupted_at = coalesce(interrupted_at, clock_timestamp())
    where id = ${placement.id} and ${isFenced(sql, placement)}
  `
  return count > 0
}

interface PlacementEnd<State extends string> {
  state: State
  /** For operators. */
  detail: string
  /** For the caller, should every instance reject the task. */
  rejection?: string | undefined
}

/**
 * Ends a placement; its task goes on elsewhere. Returns its end; undefined: a newer attempt follows it, or the task has
 * ended.
 */
export const endPlacement = async <State extends string>(
  sql: Queryable,
  { state, detail, rejection, ...placement }: FencedPlacement & PlacementEnd<State>,
): Promise<State | undefined> => {
  const { count } = await sql`
    update placement set state = ${state}, detail = ${detail}, rejection = ${rejection ?? null},
      ended_at = coalesce(ended_at, clock_timestamp())
    where id = ${placement.id} and ${isFenced(sql, placement)}
  `
  return count > 0 ? state : undefined
}

/** Time for which an instance is given nothing after an error that may not come again. */
export const REST_SECONDS = 30

/** Has an instance rest, or takes it out until its marker is gone. */
export const holdInstance = async (
  sql: Queryable,
  { name, restSeconds, reason }: { name: string; restSeconds: number | null; reason: string },
): Promise<void> => {
  await sql`
    update instance set reason = ${reason},
      rests_until = clock_timestamp() + ${restSeconds} * interval '1 second',
      -- Its memory is freed, or holds nobody knows what.
      template = null,
      quarantined_at = case when ${restSeconds}::float8 is null
        then coalesce(quarantined_at, clock_timestamp()) else quarantined_at end
    where name = ${name}
  `
}

/** Records how a worker sees an instance, when that has changed. */
export const recordState = async (
  sql: Sql,
  { name, state, silence }: { name: string; state: string; silence: string | null },
): Promise<void> => {
  await sql`
    insert into instance (name, state, silence) values (${name}, ${state}, ${silence})
    on conflict (name) do update set state = excluded.state, silence = excluded.silence,
      state_at = case when instance.state = excluded.state then instance.state_at else clock_timestamp() end
      where (instance.state, instance.silence) is distinct from (excluded.state, excluded.silence)
  `
}

/** Finds the marker of an instance; null before one was left. */
export const findMarker = async (sql: Sql, name: string): Promise<string | null> => {
  const [row] = await sql<{ marker: string | null }[]>`
    select marker from instance where name = ${name}
  `
  return row?.marker ?? null
}

/** Replaces the marker that is gone: the instance has restarted. One of several workers does it. */
export const replaceMarker = async (
  sql: Sql,
  { name, old, marker }: { name: string; old: string | null; marker: string },
): Promise<void> => {
  await sql`
    update instance set marker = ${marker}, quarantined_at = null, rests_until = null,
      broken_by = null, reason = null,
      template = case when ${old}::uuid is null then template end
    where name = ${name} and marker is not distinct from ${old}::uuid
  `
}

export interface LeftPlacement {
  id: string
  inputs: string[]
}

/** Time in which what a placement left is removed. */
const LEASE_SECONDS = 60

/** Takes placements whose prompts and files on an instance nobody needs any more. */
export const leaseLeftPlacements = async (
  sql: Sql,
  { instance, max }: { instance: string; max: number },
): Promise<LeftPlacement[]> =>
  await sql<LeftPlacement[]>`
  update placement p set leased_until = clock_timestamp() + ${LEASE_SECONDS} * interval '1 second'
  from task t
  where t.id = p.task_id and p.id in (
    select p.id from placement p join task t on t.id = p.task_id
    where p.instance = ${instance} and p.cleaned_at is null
      and coalesce(p.leased_until < clock_timestamp(), true)
      and (p.state <> 'open' or t.ended_at is not null)
    limit ${max} for update of p skip locked
  )
  returning p.id, p.inputs
`

/** Records that nothing of a placement is left on its instance. */
export const finishPlacement = async (sql: Sql, id: string): Promise<void> => {
  await sql`
    update placement set cleaned_at = clock_timestamp(), prediction = null,
      ended_at = coalesce(ended_at, clock_timestamp()),
      state = case when state = 'open' then 'done' else state end
    where id = ${id}
  `
}

/** Deletes placements on instances of ComfyUI, some days after the end of their task; returns how many. */
export const deleteOldPlacements = async (sql: Sql, retentionDays: number): Promise<number> => {
  const { count } = await sql`
    delete from placement
    where ctid = any(array(
      select p.ctid from placement p
      cross join lateral (
        select from task t
        where t.id = p.task_id and t.ended_at < now() - make_interval(days => ${retentionDays})
        limit 1
      ) ended
      where p.at < now() - make_interval(days => ${retentionDays})
      order by p.at
      ${purgeBatch(sql)}
    ))
  `
  return count
}
