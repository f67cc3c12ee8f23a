import type { MemberRole } from '../domain/member.ts'
import type {
  NewPublisher,
  Publisher,
  PublisherStatus,
  PublisherUpdate,
} from '../domain/publisher.ts'
import { offsetOf } from '../../platform/db/audit-log.ts'
import type { Queryable, Sql, Transaction } from '../../platform/db/client.ts'
import { recordListChange } from './search/listed-count.ts'
import { keepName, keepPictureUrl, keepText } from './keep.ts'
import type { RecordOptions } from './node.ts'
import { publisherWithMembersJson } from './registry-json.ts'
import { lockPublisher } from './registry-lock.ts'

interface PublisherCreation {
  publisher: NewPublisher
  /** Becomes its owner; a row of app_user. */
  userId: string
  /** Publishers that one user creates at most (MAX_PUBLISHERS_PER_USER). */
  limit: number
}

type PublisherCreated =
  | { result: 'created'; publisher: Publisher }
  | { result: 'publisher_exists' }
  | { result: 'publisher_limit_reached' }

/** Creates a publisher with its first owner. The creator's row is the lock under which their publishers are counted. */
export const insertPublisher = async (
  sql: Transaction,
  { publisher, userId, limit }: PublisherCreation,
  options: RecordOptions,
): Promise<PublisherCreated> => {
  await sql`select from app_user where id = ${userId} for no key update`
  const [made] = await sql<{ made: number }[]>`
    select count(*)::integer as made from publisher where created_by = ${userId}
  `
  if ((made?.made ?? 0) >= limit) return { result: 'publisher_limit_reached' }
  const { id } = publisher
  const { count } = await sql`
    insert into publisher (id, name, created_by) values (${id}, ${id}, ${userId})
    on conflict (id) do nothing
  `
  if (count === 0) return { result: 'publisher_exists' }
  // Trigger `member_event` (0069): records an event, if an endpoint of the publisher wants it.
  await sql`
    insert into publisher_member (publisher_id, user_id, role) values (${id}, ${userId}, 'owner')
  `
  await setFields(sql, { id, fields: publisher }, options)
  return { result: 'created', publisher: await getPublisher(sql, id, options) }
}

interface PublisherEdit {
  id: string
  fields: PublisherUpdate
  /** The revision that the caller has seen (If-Match). */
  ifRev?: number | undefined
}

type PublisherUpdated =
  | { result: 'updated'; publisher: Publisher; before: Publisher }
  | { result: 'publisher_not_found' | 'precondition_failed' }

/** Sets what is given of the fields. */
export const updatePublisher = async (
  sql: Transaction,
  { id, fields, ifRev }: PublisherEdit,
  options: RecordOptions,
): Promise<PublisherUpdated> => {
  const locked = await lockPublisher(sql, id, 'update')
  if (!locked) return { result: 'publisher_not_found' }
  if (ifRev !== undefined && ifRev !== locked.rev) return { result: 'precondition_failed' }
  const before = await getPublisher(sql, locked.id, options)
  await setFields(sql, { id: locked.id, fields }, options)
  await recordListChange(sql)
  return { result: 'updated', publisher: await getPublisher(sql, locked.id, options), before }
}

const setFields = async (
  sql: Transaction,
  { id, fields }: { id: string; fields: PublisherUpdate },
  { publicUrl }: RecordOptions,
): Promise<void> => {
  // Triggers `publisher_changed` (0032): is a change of the nodes that show it, for clients that keep a copy of the lists;
  // `publisher_renamed` (0088): renews the words by which searches find them.
  await sql`
    update publisher
    set ${keepName(sql, fields.name)},
      ${keepText(sql, 'description', fields.description)},
      ${keepPictureUrl(sql, ['logo', 'logo_picture'], { url: fields.logo, publicUrl })},
      ${keepText(sql, 'source_code_repo', fields.source_code_repo)},
      ${keepText(sql, 'website', fields.website)},
      ${keepText(sql, 'support', fields.support)},
      rev = rev + 1
    where id = ${id}
  `
}

/**
 * A publisher, which must be there, with its members. Their e-mail addresses are for members alone: `withoutEmail` takes
 * them out.
 */
export const getPublisher = async (
  sql: Queryable,
  id: string,
  { publicUrl }: RecordOptions,
): Promise<Publisher> => {
  const [row] = await sql<{ publisher: Publisher }[]>`
    select ${publisherWithMembersJson(sql, publicUrl)} as publisher
    from publisher p where p.id = lower(${id}::text)
  `
  if (!row) throw new Error('a publisher that is not there')
  return row.publisher
}

export const existsPublisher = async (sql: Queryable, id: string): Promise<boolean> => {
  const [row] = await sql`select from publisher where id = lower(${id}::text)`
  return row !== undefined
}

/** Ids of banned publishers to which a member of a publisher belongs, too; nobody leaves a banned one. */
export const listBannedOfMembers = async (sql: Queryable, id: string): Promise<string[]> => {
  const rows = await sql<{ id: string }[]>`
    select distinct p.id
    from publisher_member m
    join publisher_member other on other.user_id = m.user_id and other.publisher_id <> m.publisher_id
    join publisher p on p.id = other.publisher_id and p.status = 'PublisherStatusBanned'
    where m.publisher_id = ${id}
    order by p.id limit 100
  `
  return rows.map((row) => row.id)
}

/** Facts of a publisher that authorize a request and validate its cached response. */
export interface PublisherFacts {
  /** As it is stored. */
  id: string
  status: PublisherStatus
  /** Why it is banned; null when nobody said. For its members. */
  reason: string | null
  /** Role of the user asked for; null when they are no member, or nobody. */
  role: MemberRole | null
  /** Grows with everything a reader of the publisher can see, users' names aside. */
  rev: number
}

export const findPublisherFacts = async (
  sql: Queryable,
  { id, userId }: { id: string; userId: string | undefined },
): Promise<PublisherFacts | undefined> => {
  const [row] = await sql<PublisherFacts[]>`
    select p.id, p.status, p.status_reason as reason, m.role, p.rev
    from publisher p
    left join publisher_member m on m.publisher_id = p.id and m.user_id = ${userId ?? null}::text
    where p.id = lower(${id}::text)
  `
  return row
}

export interface PublisherListFilter {
  /** Only publishers this user belongs to, banned ones too; undefined: all of the status. */
  userId?: string | undefined
  /** Active unless given. */
  status?: PublisherStatus | undefined
  page: number
  limit: number
}

/** A page of publishers by id, and how many there are in all. */
export const listPublishers = async (
  sql: Sql,
  { userId, status, page, limit }: PublisherListFilter,
  { publicUrl }: RecordOptions,
): Promise<{ publishers: Publisher[]; total: number }> => {
  // As the indexes of both have it.
  const isBanned = status === 'PublisherStatusBanned'
  const found =
    userId === undefined
      ? sql`from publisher p where p.status ${isBanned ? sql`<>` : sql`=`} 'PublisherStatusActive'`
      : sql`from publisher p where p.id in (
          select publisher_id from publisher_member where user_id = ${userId})`
  const [rows, [count]] = await Promise.all([
    sql<{ publisher: Publisher }[]>`
      select ${publisherWithMembersJson(sql, publicUrl)} as publisher
      from (select p.* ${found} order by p.id limit ${limit} offset ${offsetOf(page, limit)}) p
      order by p.id
    `,
    sql<{ total: number }[]>`select count(*)::integer as total ${found}`,
  ])
  return { publishers: rows.map(({ publisher }) => publisher), total: count?.total ?? 0 }
}
