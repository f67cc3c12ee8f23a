import { isDeepStrictEqual } from 'node:util'

import type { NodeFields } from '../domain/node.ts'
import { findMeantId } from '../domain/node-validation.ts'
import { VERSION_TRANSITIONS } from '../domain/version-transition.ts'
import type { VersionNumber } from '../domain/version-number.ts'
import type { ArchiveState, NewVersion, Version, VersionStatus } from '../domain/version.ts'
import type { Fragment, Queryable, Transaction } from '../../platform/db/client.ts'
import { isRevoked, replaceVersion } from './archive.ts'
import { changesOf } from '../../platform/db/audit-log.ts'
import { recordListChange } from './search/listed-count.ts'
import { getNode, insertNodeRow, setNodeFields } from './node.ts'
import type { RecordOptions } from './node.ts'
import type { OutboxStart } from '../../platform/db/outbox.ts'
import type { Enqueue } from '../../platform/db/unit-of-work.ts'
import { lockNode, lockPublisher } from './registry-lock.ts'
import { getVersion } from './version.ts'

export interface Publication {
  /** Id of the version, unless it awaits its archive already. */
  id: string
  publisherId: string
  /** As the path spells it, which a new node keeps. */
  nodeId: string
  /** The body's node as `publishedFields` leaves it. */
  fields: NodeFields
  version: NewVersion
  number: VersionNumber
  /** Seconds until the upload must have begun (UPLOAD_EXPIRY_SECONDS). */
  uploadSeconds: number
  publishedBy: string
  tokenId: string
  /** The token is for this node alone. */
  isNodeToken?: boolean
  /** The start of `publish-version/<id>`; written for a new row only. */
  start: OutboxStart
}

export type PublicationResult =
  | {
      result: 'published'
      version: Version
      uploadExpiresAt: Date
      /** The node's change, on both sides. */
      node: { isNew: boolean } & ReturnType<typeof changesOf>
      /** Fields of the version that awaited its archive which this publication has changed. */
      changed: string[]
      /** Node of the publisher that a new one has nearly the id of. */
      meantId: string | undefined
      /** The version that stays the latest when this one is Active, and why; undefined when this one is the latest then. */
      latest: Latest | undefined
    }
  | {
      result:
        | 'publisher_not_found'
        | 'publisher_banned'
        | 'node_owned_by_other_publisher'
        | 'node_deleted'
        | 'node_banned'
        | 'token_revoked'
    }
  | { result: 'version_exists'; taken: Taken }

/**
 * Publishes a version: creates its node or updates it, inserts the version in Pending with the start of its workflow, or
 * gives the one that awaits its archive a new deadline. A rejected publication changes nothing. Publications of one node
 * wait for each other on its row; the unique index stands behind that.
 */
export const insertPublication = async (
  sql: Transaction,
  given: Publication,
  options: RecordOptions & { enqueue: Enqueue },
): Promise<PublicationResult> => {
  const publisher = await lockPublisher(sql, given.publisherId, 'share')
  if (!publisher) return { result: 'publisher_not_found' }
  if (publisher.status !== 'PublisherStatusActive') return { result: 'publisher_banned' }
  const isNewNode = await insertNodeRow(sql, { id: given.nodeId, publisherId: publisher.id })
  const node = await lockNode(sql, given.nodeId)
  if (node?.publisherId !== publisher.id) return { result: 'node_owned_by_other_publisher' }
  if (node.status === 'NodeStatusDeleted') return { result: 'node_deleted' }
  if (node.status === 'NodeStatusBanned') return { result: 'node_banned' }
  // A transfer, which locks the row of the node, may have ended it since it was read.
  if (given.isNodeToken && !isNewNode && (await isTokenRevoked(sql, given.tokenId)))
    return { result: 'token_revoked' }

  const found = isNewNode ? undefined : await lockTaken(sql, node.id, given.number)
  if (found && isTaken(found)) return { result: 'version_exists', taken: found }
  const taken = found && isReissuable(found) ? found : undefined
  if (found && !taken) await replaceVersion(sql, { ...found, by: given.publishedBy })
  const id = taken?.id ?? given.id
  const before = taken && (await getVersion(sql, id, options))
  if (!taken) await insertVersion(sql, { ...given, nodeId: node.id })
  const uploadExpiresAt = await setPublished(sql, id, { ...given, isNew: !taken })
  const was = isNewNode ? {} : await getNode(sql, node.id, options)
  await setNodeFields(sql, { id: node.id, fields: given.fields }, options)
  const is = await getNode(sql, node.id, options)
  if (!taken) await options.enqueue(given.start)
  await recordListChange(sql, { nodes: isNewNode ? 1 : 0, versions: taken ? 0 : 1 })
  const version = await getVersion(sql, id, options)
  return {
    result: 'published',
    version,
    uploadExpiresAt,
    node: { isNew: isNewNode, ...changesOf(was, is, given.fields) },
    changed: before
      ? PUBLISHED_FIELDS.filter((name) => !isDeepStrictEqual(before[name], version[name]))
      : [],
    meantId: isNewNode ? findMeantId(node.id, await listOtherIds(sql, node)) : undefined,
    latest: await findLatest(sql, node.id, id),
  }
}

const isTokenRevoked = async (sql: Transaction, id: string): Promise<boolean> => {
  const [revoked] = await sql`
    select from personal_access_token where id = ${id} and revoked_at is not null
  `
  return revoked !== undefined
}

/** Ids of a publisher that a new one is compared with: more than anybody remembers. */
const COMPARED_IDS = 1_000

const listOtherIds = async (
  sql: Transaction,
  { id, publisherId }: { id: string; publisherId: string },
): Promise<string[]> => {
  const rows = await sql<{ id: string }[]>`
    select id from node
    where publisher_id = ${publisherId} and id <> ${id} and status <> 'NodeStatusDeleted'
    order by id limit ${COMPARED_IDS}
  `
  return rows.map((row) => row.id)
}

/** Fields that each publication sets. */
const PUBLISHED_FIELDS = [
  'changelog',
  'dependencies',
  'deprecated',
  'tags',
  'supported_os',
  'supported_accelerators',
  'supported_host_version',
  'supported_host_frontend_version',
] as const satisfies readonly (keyof Version)[]

export interface Taken {
  id: string
  version: string
  status: VersionStatus
  reason: string
  archiveState: ArchiveState
  /** A platform admin has flagged or banned it by hand. */
  isDecided: boolean
  /** Its publisher may not publish any more, and has a link. */
  isRevoked: boolean
}

/** The version that keeps a number from being published; undefined of one that is free. */
export const findTakenNumber = async (
  sql: Queryable,
  nodeId: string,
  number: VersionNumber,
): Promise<Taken | undefined> => {
  const found = await findHolder(sql, nodeId, number, sql``)
  return found && isTaken(found) ? found : undefined
}

/** The version that holds this number; locked, so that an upload cannot arrive for it meanwhile. */
const lockTaken = (sql: Transaction, nodeId: string, number: VersionNumber) =>
  findHolder(sql, nodeId, number, sql`for no key update`)

const findHolder = async (
  sql: Queryable,
  nodeId: string,
  { canonical }: VersionNumber,
  lock: Fragment,
): Promise<Taken | undefined> => {
  const [row] = await sql<Taken[]>`
    select id, version, status, status_reason as reason, archive_state as "archiveState",
      exists (
        select from version_transition m
        where m.version_id = version.id and m.actor <> 'workflow'
          and m.to_status in ('NodeVersionStatusFlagged', 'NodeVersionStatusBanned')
      ) as "isDecided", ${isRevoked(sql)} as "isRevoked"
    from version
    where node_id = ${nodeId} and canonical = ${canonical} and archive_state not in ('expired', 'replaced')
    ${lock}
  `
  return row
}

const isTaken = (found: Taken): boolean => !isReissuable(found) && !isReplaceable(found)

const isAwaiting = ({ status, archiveState }: Taken): boolean =>
  status === 'NodeVersionStatusPending' && archiveState === 'awaiting'

const isReissuable = (taken: Taken): boolean => isAwaiting(taken) && !taken.isRevoked

/**
 * Nobody could ever have it: its archive was rejected, or it was deleted before one was accepted. What a platform admin
 * has decided stays.
 */
const isReplaceable = (taken: Taken): boolean => {
  const { status, archiveState, isDecided } = taken
  if (isDecided) return false
  if (status === 'NodeVersionStatusDeleted') return archiveState !== 'accepted'
  return isAwaiting(taken) || (status === 'NodeVersionStatusFlagged' && archiveState === 'rejected')
}

interface Latest {
  version: string
  because: 'is not deprecated' | 'is a release' | 'has the higher number'
}

/** The latest version of a node, if it stays before another one; by the order of `updateLatestVersion`. */
const findLatest = async (
  sql: Transaction,
  nodeId: string,
  id: string,
): Promise<Latest | undefined> => {
  const [row] = await sql<Latest[]>`
    select l.version, case when l.pre_key = '~' and v.pre_key <> '~' then 'is a release'
      when v.deprecated and not l.deprecated then 'is not deprecated'
      else 'has the higher number' end as because
    from node n
    join version l on l.id = n.latest_version_id
    join version v on v.id = ${id}
    where n.id = ${nodeId}
      and (l.pre_key = '~', not l.deprecated, l.major, l.minor, l.patch, l.pre_key)
        > (v.pre_key = '~', not v.deprecated, v.major, v.minor, v.patch, v.pre_key)
  `
  return row
}

const insertVersion = async (
  sql: Transaction,
  { id, nodeId, version, number, publishedBy }: Publication,
): Promise<void> => {
  const { to, reason } = VERSION_TRANSITIONS.publish
  await sql`
    with made as (
      insert into version (id, node_id, version, canonical, major, minor, patch, pre_key, status,
        status_reason, upload_expires_at, published_by)
      values (${id}, ${nodeId}, ${version.version}, ${number.canonical}, ${number.major},
        ${number.minor}, ${number.patch}, ${number.pre_key}, ${to}, ${reason}, clock_timestamp(),
        ${publishedBy})
      returning id, created_at, status_reason
    )
    insert into version_transition (version_id, at, to_status, reason, actor)
    select id, created_at, ${to}, status_reason, ${`user:${publishedBy}`} from made
  `
}

/**
 * Sets all that a publication says about its version, and returns the deadline of the upload. A provenance stays only
 * while all publications have the same: whoever has a link of any of them may upload the archive.
 */
const setPublished = async (
  sql: Transaction,
  id: string,
  { version, uploadSeconds, publishedBy, tokenId, isNew }: Publication & { isNew: boolean },
): Promise<Date> => {
  // Trigger `upload_wait_changed` (0066): signals the workflow that waits for the archive.
  const [row] = await sql<{ uploadExpiresAt: Date }[]>`
    update version
    set version = ${version.version},
      changelog = nullif(${version.changelog ?? null}::text, ''),
      dependencies = ${[...(version.dependencies ?? [])]},
      deprecated = ${version.deprecated ?? false},
      tags = ${[...(version.tags ?? [])]},
      supported_os = ${[...(version.supported_os ?? [])]},
      supported_accelerators = ${[...(version.supported_accelerators ?? [])]},
      supported_host_version = nullif(${version.supported_host_version ?? null}::text, ''),
      supported_host_frontend_version =
        nullif(${version.supported_host_frontend_version ?? null}::text, ''),
      upload_expires_at = clock_timestamp() + make_interval(secs => ${uploadSeconds}),
      published_by = ${publishedBy},
      token_id = ${tokenId},
      provenance = (
        select t.provenance from personal_access_token t
        where t.id = ${tokenId} and (${isNew} or t.provenance = version.provenance)
      ),
      rev = rev + 1
    where id = ${id}
    returning upload_expires_at as "uploadExpiresAt"
  `
  if (!row) throw new Error('a version that is not there')
  return row.uploadExpiresAt
}
