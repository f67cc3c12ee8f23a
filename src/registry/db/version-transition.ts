import { checkCause } from '../domain/archive-check.ts'
import type { ListedTransition } from '../domain/finding.ts'
import { VERSION_TRANSITIONS, checksFailedReason } from '../domain/version-transition.ts'
import type { VersionTransitionName } from '../domain/version-transition.ts'
import type { ArchiveState, VersionStatus } from '../domain/version.ts'
import type { Queryable, Transaction } from '../../platform/db/client.ts'
import { recordListChange } from './search/listed-count.ts'
import { instant } from '../../platform/db/instant.ts'
import { lockNodeOfVersion } from './registry-lock.ts'

/** State of a version, for its workflow. */
export interface VersionState {
  status: VersionStatus
  reason: string
  archiveState: ArchiveState
  /** Why the archive was rejected. */
  archiveCode: string | null
  checksFailed: boolean
  /** Id of its newest transition. */
  transition: string
}

export const findVersionState = async (
  sql: Queryable,
  versionId: string,
): Promise<VersionState | undefined> => {
  const [row] = await sql<VersionState[]>`
    select v.status, v.status_reason as reason, v.archive_state as "archiveState",
      a.code as "archiveCode", v.checks_failed_at is not null as "checksFailed",
      ${newestTransition(sql)} as transition
    from version v left join archive a on a.version_id = v.id
    where v.id = ${versionId}
  `
  return row
}

/** Joins `version v`: the id of its newest transition, by which a step knows whether somebody came before it. */
export const newestTransition = (sql: Queryable) => sql`(
  select id from version_transition where version_id = v.id order by at desc, id desc limit 1
)`

interface VersionTransition {
  id: string
  name: VersionTransitionName
  /** `user:<id>`, `workflow` or `operator`. */
  actor: string
  /** Text for `status_reason`; absent: the sentence of the table of transitions. */
  reason?: string | undefined
  /** With `flag`: the archive could not be read to its end, so that an operator may have it read again. */
  scanIncomplete?: boolean
}

/**
 * Moves a version, with all that must accompany it: its move row, the node's latest version, the open review that a
 * decision closes, the counts. Takes the lock of the node's row. False when the version is not there, or not where the
 * move starts: a lost race, which is no error.
 */
export const transitionVersion = async (
  sql: Transaction,
  transition: VersionTransition,
): Promise<boolean> => {
  const node = await lockNodeOfVersion(sql, transition.id)
  if (!node) return false
  const from = await writeTransition(sql, transition)
  if (from === undefined) return false
  await applyTransition(sql, {
    id: transition.id,
    nodeId: node.id,
    from,
    to: VERSION_TRANSITIONS[transition.name].to,
  })
  return true
}

/** Order of a node's versions, the latest first: releases first, then those that are not deprecated, then by number. */
export const newestFirst = (sql: Queryable) =>
  sql`(pre_key <> '~'), deprecated, major desc, minor desc, patch desc, pre_key desc`

/** Runs the one conditional statement. Returns the status that the version came from. */
const writeTransition = async (
  sql: Transaction,
  { id, name, actor, reason, scanIncomplete = false }: VersionTransition,
): Promise<VersionStatus | undefined> => {
  const { from, to, reason: usual } = VERSION_TRANSITIONS[name]
  // Trigger `upload_wait_changed` (0066): signals the workflow that waits for the archive of a version that is deleted.
  // Trigger `version_event` (0069): records an event for the publisher's endpoints, and `version_flagged_platform_event`
  // (0069) for the platform's endpoints. Trigger `version_transition_decision` (0069):
  // bans the content with the version, or frees it.
  const [isTransitioned] = await sql<{ from: VersionStatus }[]>`
    with old as (
      select id, status from version where id = ${id} for no key update
    ), moved as (
      update version v
      set status = ${to},
        status_reason = ${reason || usual},
        checks_failed_at = case when ${name === 'give_up_checks'} then clock_timestamp() end,
        scan_incomplete = ${scanIncomplete},
        last_moved_at = greatest(clock_timestamp(), v.last_moved_at),
        rev = v.rev + 1
      from old
      where v.id = old.id
        and v.status = any(${[...from]})
        and ((${to} <> 'NodeVersionStatusActive' and old.status <> 'NodeVersionStatusDeleted')
          or v.archive_state = 'accepted')
        and (${name} <> 'expire' or v.archive_state = 'awaiting')
        and (${name} <> 'retry' or v.scan_incomplete or v.checks_failed_at is not null)
      returning v.id, v.last_moved_at, old.status as from_status, v.status_reason
    )
    insert into version_transition (version_id, at, from_status, to_status, reason, actor)
    select id, last_moved_at, from_status, ${to}, status_reason, ${actor} from moved
    returning from_status as from
  `
  return isTransitioned?.from
}

const applyTransition = async (
  sql: Transaction,
  { id, nodeId, from, to }: { id: string; nodeId: string; from: VersionStatus; to: VersionStatus },
): Promise<void> => {
  if (from === 'NodeVersionStatusFlagged') await closeReview(sql, id)
  await updateLatestVersion(sql, nodeId)
  const change = Number(from === DELETED) - Number(to === DELETED)
  await recordListChange(sql, {
    versions: change !== 0 && (await isListed(sql, nodeId)) ? change : 0,
  })
}

const DELETED: VersionStatus = 'NodeVersionStatusDeleted'

/**
 * Records on a Pending version why its checks could not run, for an operator; the first reason stays. With the transition
 * that began those checks: only if none came after it. Returns the status of the version, which somebody may have changed.
 */
export const giveUpChecks = async (
  sql: Transaction,
  { id, code, since }: { id: string; code: string; since?: string | undefined },
): Promise<VersionStatus> => {
  await lockNodeOfVersion(sql, id)
  const version = await findVersionState(sql, id)
  const isOpen = version?.status === 'NodeVersionStatusPending' && !version.checksFailed
  if (isOpen && (since === undefined || since === version.transition)) {
    const reason = checksFailedReason(checkCause(code))
    await transitionVersion(sql, { id, name: 'give_up_checks', reason, actor: 'workflow' })
  }
  return version?.status ?? 'NodeVersionStatusDeleted'
}

/** A decision has been made, which the version has: the next review may be asked for. */
export const closeReview = async (sql: Transaction, versionId: string): Promise<void> => {
  // Trigger `review_decided_event` (0069): records an event for the publisher's endpoints.
  await sql`
    update review_request
    set closed_at = clock_timestamp(), decided_status = v.status, decided_reason = v.status_reason
    from version v
    where version_id = ${versionId} and closed_at is null and v.id = version_id
  `
}

/** Stands still while the node's row is locked. */
const isListed = async (sql: Transaction, nodeId: string): Promise<boolean> => {
  const [row] = await sql<{ listed: boolean }[]>`
    select listed from node_stats where node_id = ${nodeId}
  `
  return row?.listed ?? false
}

/** All transitions of a version, oldest first. For members: the actors are named. */
export const listVersionTransitions = async (
  sql: Queryable,
  versionId: string,
): Promise<ListedTransition[]> => {
  const rows = await sql<{ move: ListedTransition }[]>`
    select json_strip_nulls(json_build_object('at', ${instant(sql, sql`at`)}, 'from', from_status,
      'to', to_status, 'reason', reason, 'actor', actor)) as move
    from version_transition m where version_id = ${versionId} order by m.at, m.id
  `
  return rows.map(({ move: transition }) => transition)
}

/**
 * Chooses the latest version of a node again: of the active ones releases before pre-releases, then not deprecated before
 * deprecated, then the highest. Every transition and change of a version does so in its own transaction. Each of them
 * also counts as a change of the node, for clients that keep a copy of the lists. The caller holds the node's row;
 * without it two transitions at once would each miss the other's version.
 */
export const updateLatestVersion = async (sql: Transaction, nodeId: string): Promise<void> => {
  // Trigger `node_license_set` (0039): the node takes the license of its latest version.
  const [changed] = await sql`
    with latest as (
      select (
        select id from version
        where node_id = ${nodeId} and status = 'NodeVersionStatusActive'
        order by ${newestFirst(sql)}
        limit 1
      ) as id
    ), old as (
      select latest_version_id as id from node where id = ${nodeId}
    ), settled as (
      update node n
      set latest_version_id = latest.id,
        updated_at = greatest(clock_timestamp(), n.updated_at),
        rev = n.rev + case when n.latest_version_id is distinct from latest.id then 1 else 0 end
      from latest
      where n.id = ${nodeId}
    )
    select from latest, old where latest.id is distinct from old.id
  `
  if (changed) await updateCurrentHostNodes(sql, nodeId)
}

/** Has the reverse look-up and the search read the names of the latest version, except banned ones. */
export const updateCurrentHostNodes = async (sql: Transaction, nodeId: string): Promise<void> => {
  // Triggers `current_host_node_inserted`, `current_host_node_updated` and `current_host_node_deleted` (0088): write the
  // names as one text, and their words among those of the node, which searches read; `current_host_node_named`: finds the
  // display name for an api of the release before.
  await sql`
    with latest as (
      select h.host_node_name as name, h.display_name
      from node n
      join version v on v.id = n.latest_version_id and v.host_node_extract_status = 'success'
      join host_node h on h.version_id = v.id
      left join node_host_policy y on y.node_id = n.id and y.host_node_name = h.host_node_name
      where n.id = ${nodeId} and y.policy is distinct from 'HostNodePolicyBanned'
    ), gone as (
      delete from current_host_node
      where node_id = ${nodeId} and name not in (select name from latest)
    )
    insert into current_host_node as c (node_id, name, display_name)
    select ${nodeId}, name, display_name from latest
    on conflict (node_id, name) do update set display_name = excluded.display_name
    where c.display_name is distinct from excluded.display_name
  `
}
