import { useQuery } from '@tanstack/react-query'

import type { Schema } from '../api/client.ts'
import { useMe } from '../api/queries.ts'
import { readQuery } from '../api/read.ts'
import { versionsQuery } from '../registry/queries.ts'

export type Role = Schema<'MemberRole'>
type Publisher = Schema<'Publisher'>

/** What a tab of a publisher is given. */
export interface OfPublisher {
  id: string
  role: Role | undefined
}

const ALL = { limit: 1000 }
const PUBLISHER = '/publishers/{publisherId}'

export const publisherKey = (id: string) => ['publisher', id.toLowerCase()]
const at = (publisherId: string) => ({ path: { publisherId } })

export const publishersQuery = readQuery(['publishers', 'mine'], '/users/publishers/', {
  query: ALL,
})

export const publisherQuery = (id: string) => readQuery(publisherKey(id), PUBLISHER, at(id))

export const nodesQuery = (id: string) =>
  readQuery([...publisherKey(id), 'nodes'], `${PUBLISHER}/nodes`, {
    ...at(id),
    query: { ...ALL, include_banned: true },
  })

export const membersQuery = (id: string) =>
  readQuery([...publisherKey(id), 'members'], `${PUBLISHER}/members`, at(id))

export const tokensQuery = (id: string) =>
  readQuery([...publisherKey(id), 'tokens'], `${PUBLISHER}/tokens`, at(id))

export const endpointsQuery = (id: string) =>
  readQuery([...publisherKey(id), 'endpoints'], `${PUBLISHER}/endpoints`, at(id))

/** Versions of a node that installs do not get, or not yet. */
export const heldVersionsQuery = (nodeId: string) =>
  readQuery([...versionsQuery(nodeId).queryKey, 'held'], '/nodes/{nodeId}/versions', {
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
