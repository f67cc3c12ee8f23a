import { useQuery } from '@tanstack/react-query'

import { readQuery, type Schema } from '../api/client.ts'
import { useMe } from '../api/queries.ts'

export type Role = Schema<'MemberRole'>
type Publisher = Schema<'Publisher'>

/** What a tab of a publisher is given. */
export interface OfPublisher {
  id: string
  role: Role | undefined
}

const ALL = { limit: 1000 }
const PUBLISHER = '/publishers/{publisherId}'

const at = (publisherId: string) => ({ path: { publisherId } })

export const publishersQuery = readQuery('/users/publishers/', { query: ALL })

export const publisherQuery = (id: string) => readQuery(PUBLISHER, at(id))

export const nodesQuery = (id: string) =>
  readQuery(`${PUBLISHER}/nodes`, { ...at(id), query: { ...ALL, include_banned: true } })

export const membersQuery = (id: string) => readQuery(`${PUBLISHER}/members`, at(id))

export const tokensQuery = (id: string) => readQuery(`${PUBLISHER}/tokens`, at(id))

export const endpointsQuery = (id: string) => readQuery(`${PUBLISHER}/endpoints`, at(id))

/** Versions of a node that installs do not get, or not yet. */
export const heldVersionsQuery = (nodeId: string) =>
  readQuery('/nodes/{nodeId}/versions', {
    path: { nodeId },
    query: {
      statuses: ['NodeVersionStatusPending', 'NodeVersionStatusFlagged', 'NodeVersionStatusBanned'],
    },
  })

/** The caller's role in a publisher; undefined of a stranger, and until it is known. */
export const roleIn = (publisher: Publisher | undefined, me: string | undefined) =>
  publisher?.members?.find(({ user }) => user.id === me && me)?.role

/** Whether a role may do what the lowest one may; without a lowest one everybody may. */
export const mayAs = (role: Role | undefined, lowest?: Role): boolean => {
  const ranks = [undefined, 'member', 'admin', 'owner']
  return ranks.indexOf(role) >= ranks.indexOf(lowest)
}

export const useRole = (publisherId: string): Role | undefined =>
  roleIn(useQuery(publisherQuery(publisherId)).data, useMe()?.id)
