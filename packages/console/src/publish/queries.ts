import { useQuery } from '@tanstack/react-query'

import { readQuery, type Schema } from '../api/client.ts'
import { useMe } from '../api/queries.ts'
import { t } from '../words/translate.ts'

export type Role = Schema<'MemberRole'>
type Publisher = Schema<'Publisher'>

/** Roles in words, the lowest first. */
export const ROLE_WORDS: Readonly<Record<Role, string>> = {
  member: t('member'),
  admin: t('admin'),
  owner: t('owner'),
}

/** Props of a publisher's tab. */
export type OfPublisher = { id: string; role: Role | undefined }

export const publisherQuery = (publisherId: string) =>
  readQuery('/publishers/{publisherId}', { path: { publisherId } })

export const nodesQuery = (publisherId: string) =>
  readQuery('/publishers/{publisherId}/nodes', {
    path: { publisherId },
    query: { limit: 1000, include_banned: true },
  })

export const transfersQuery = (publisherId: string) =>
  readQuery('/publishers/{publisherId}/transfers', { path: { publisherId } })

/** Number of packs that are offered to a publisher; members alone may read it. */
export const useOffers = ({ id, role }: OfPublisher): number => {
  const { data } = useQuery({ ...transfersQuery(id), enabled: mayAs(role, 'member') })
  return data?.transfers.filter(({ to }) => to === id).length ?? 0
}

/** The caller's role in a publisher; undefined of a stranger, and until it is known. */
export const roleIn = (publisher: Publisher | undefined, me: string | undefined) =>
  publisher?.members?.find(({ user }) => user.id === me && me)?.role

/** True when a role ranks at least as high as `lowest`; without one always. */
export const mayAs = (role: Role | undefined, lowest?: Role): boolean => {
  const ranks = [undefined, 'member', 'admin', 'owner']
  return ranks.indexOf(role) >= ranks.indexOf(lowest)
}

export const useRole = (publisherId: string | undefined): Role | undefined => {
  const query = publisherQuery(publisherId ?? '')
  return roleIn(useQuery({ ...query, enabled: publisherId !== undefined }).data, useMe()?.id)
}
