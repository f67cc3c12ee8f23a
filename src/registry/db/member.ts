import type { PublisherMember, MemberRole } from '../domain/member.ts'
import { losesLastOwner } from '../domain/role.ts'
import type { Queryable, Transaction } from '../../platform/db/client.ts'
import { disableEndpoint, stopEndpointEvents } from '../../events/db/endpoint-state.ts'
import { memberJson } from './registry-json.ts'
import { lockPublisher } from './registry-lock.ts'

/** The members of a publisher in the order they joined; with e-mail addresses, which only members may see. */
export const listMembers = async (
  sql: Queryable,
  publisherId: string,
): Promise<PublisherMember[]> => {
  const rows = await sql<{ member: PublisherMember }[]>`
    select ${memberJson(sql)} as member
    from publisher_member m join app_user u on u.id = m.user_id
    where m.publisher_id = lower(${publisherId}::text)
    order by m.created_at, m.id
  `
  return rows.map(({ member }) => member)
}

/** True when a user is a member of a publisher that is not banned. */
export const isMemberOfAny = async (sql: Queryable, userId: string): Promise<boolean> => {
  const [row] = await sql`
    select from publisher_member m join publisher p on p.id = m.publisher_id
    where m.user_id = ${userId} and p.status = 'PublisherStatusActive'
    limit 1
  `
  return row !== undefined
}

interface Membership {
  publisherId: string
  userId: string
}

type MemberPut =
  /** `before`: the role of a member that was there. */
  | { result: 'done'; member: PublisherMember; before: MemberRole | undefined }
  | { result: 'user_not_found' }
  | { result: 'last_owner' }

/**
 * Adds a member or changes their role. Changes of one publisher's members wait for each other on its row, so that two
 * owners cannot lower each other.
 */
export const putMember = async (
  sql: Transaction,
  { publisherId, userId, role }: Membership & { role: MemberRole },
): Promise<MemberPut> => {
  const publisher = await lockPublisher(sql, publisherId, 'update')
  if (!publisher) throw new Error('a publisher that is not there')
  const [user] = await sql`select from app_user where id = ${userId}`
  if (!user) return { result: 'user_not_found' }
  const members = await listRoles(sql, publisher.id)
  if (losesLastOwner(members, { userId, role })) return { result: 'last_owner' }
  // Triggers `member_event` and `member_changed_event` (0069): record an event for the publisher's endpoints.
  const [row] = await sql<{ member: PublisherMember }[]>`
    with m as (
      insert into publisher_member (publisher_id, user_id, role)
      values (${publisher.id}, ${userId}, ${role})
      on conflict (publisher_id, user_id) do update set role = excluded.role
      returning *
    )
    select ${memberJson(sql)} as member from m join app_user u on u.id = m.user_id
  `
  if (!row) throw new Error('a member that is not there')
  await touchPublisher(sql, publisher.id)
  const before = members.find((member) => member.userId === userId)?.role
  return { result: 'done', member: row.member, before }
}

/**
 * Removes a member, revokes the tokens they created for the publisher, ends the trust that they gave, and switches off
 * their webhook subscriptions. Returns the role that they had.
 */
export const removeMember = async (
  sql: Transaction,
  { publisherId, userId }: Membership,
): Promise<{ role: MemberRole } | 'member_not_found' | 'last_owner'> => {
  const publisher = await lockPublisher(sql, publisherId, 'update')
  if (!publisher) throw new Error('a publisher that is not there')
  const leaving = { userId, role: undefined }
  if (losesLastOwner(await listRoles(sql, publisher.id), leaving)) return 'last_owner'
  // Trigger `member_event` (0069): likewise; `token_revoked_event` for each token below.
  const [removed] = await sql<{ role: MemberRole }[]>`
    delete from publisher_member where publisher_id = ${publisher.id} and user_id = ${userId}
    returning role
  `
  if (!removed) return 'member_not_found'
  await sql`
    delete from trusted_publisher where publisher_id = ${publisher.id} and created_by = ${userId}
  `
  await sql`
    update personal_access_token set revoked_at = clock_timestamp()
    where publisher_id = ${publisher.id} and created_by = ${userId} and revoked_at is null
  `
  const endpoints = await sql<{ id: string }[]>`
    select id from endpoint
    where publisher_id = ${publisher.id} and created_by = ${userId} and status = 'enabled'
    order by id
  `
  for (const { id } of endpoints)
    if (await disableEndpoint(sql, id, 'member_removed')) await stopEndpointEvents(sql, id)
  await touchPublisher(sql, publisher.id)
  return removed
}

interface Role {
  userId: string
  role: MemberRole
}

/** Lists who has which role; the caller holds the publisher's row. */
const listRoles = async (sql: Transaction, publisherId: string): Promise<Role[]> =>
  await sql<Role[]>`
    select user_id as "userId", role from publisher_member where publisher_id = ${publisherId}
  `

/** Increments the revision of a publisher, because its response holds its members. */
const touchPublisher = async (sql: Transaction, id: string): Promise<void> => {
  await sql`update publisher set rev = rev + 1 where id = ${id}`
}
