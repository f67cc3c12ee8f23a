import { queryOptions, useQuery } from '@tanstack/react-query'

import { answerOf, api } from '../api/client.ts'
import type { Schema } from '../api/client.ts'
import { useMe } from '../api/queries.ts'
import { versionsQuery } from '../registry/queries.ts'

type Role = Schema<'MemberRole'>

export const PUBLISHERS_KEY = ['publishers', 'mine'] as const
export const publisherKey = (id: string, part?: string) =>
  ['publisher', id.toLowerCase(), ...(part === undefined ? [] : [part])] as const
const at = (publisherId: string) => ({ params: { path: { publisherId } } })

export const publishersQuery = queryOptions({
  queryKey: PUBLISHERS_KEY,
  queryFn: ({ signal }) =>
    answerOf(api.GET('/users/publishers/', { params: { query: { limit: 1000 } }, signal })),
})

export const publisherQuery = (id: string) =>
  queryOptions({
    queryKey: publisherKey(id),
    queryFn: ({ signal }) => answerOf(api.GET('/publishers/{publisherId}', { ...at(id), signal })),
  })

export const nodesQuery = (id: string) =>
  queryOptions({
    queryKey: publisherKey(id, 'nodes'),
    queryFn: ({ signal }) =>
      answerOf(
        api.GET('/publishers/{publisherId}/nodes', {
          params: { path: { publisherId: id }, query: { limit: 1000, include_banned: true } },
          signal,
        }),
      ),
  })

export const membersQuery = (id: string) =>
  queryOptions({
    queryKey: publisherKey(id, 'members'),
    queryFn: ({ signal }) =>
      answerOf(api.GET('/publishers/{publisherId}/members', { ...at(id), signal })),
  })

export const tokensQuery = (id: string) =>
  queryOptions({
    queryKey: publisherKey(id, 'tokens'),
    queryFn: ({ signal }) =>
      answerOf(api.GET('/publishers/{publisherId}/tokens', { ...at(id), signal })),
  })

export const trustedQuery = (publisherId: string, nodeId: string) =>
  queryOptions({
    queryKey: [...publisherKey(publisherId, 'trusted'), nodeId.toLowerCase()],
    queryFn: ({ signal }) =>
      answerOf(
        api.GET('/publishers/{publisherId}/nodes/{nodeId}/trusted-publishers', {
          params: { path: { publisherId, nodeId } },
          signal,
        }),
      ),
  })

export const endpointsQuery = (id: string) =>
  queryOptions({
    queryKey: publisherKey(id, 'endpoints'),
    queryFn: ({ signal }) =>
      answerOf(api.GET('/publishers/{publisherId}/endpoints', { ...at(id), signal })),
  })

/** Versions of a node that installs do not get, or not yet. */
export const heldVersionsQuery = (nodeId: string) =>
  queryOptions({
    queryKey: [...versionsQuery(nodeId).queryKey, 'held'],
    queryFn: ({ signal }) =>
      answerOf(
        api.GET('/nodes/{nodeId}/versions', {
          params: {
            path: { nodeId },
            query: {
              statuses: [
                'NodeVersionStatusPending',
                'NodeVersionStatusFlagged',
                'NodeVersionStatusBanned',
              ],
            },
          },
          signal,
        }),
      ),
  })

const RANKS: Record<Role, number> = { member: 1, admin: 2, owner: 3 }

/** The caller's role in a publisher; undefined of a stranger, and until it is known. */
export const roleIn = (
  publisher: Schema<'Publisher'> | undefined,
  me: string | undefined,
): Role | undefined => publisher?.members?.find(({ user }) => user.id === me && me)?.role

/** Whether a role may do what the lowest one may. */
export const mayAs = (role: Role | undefined, lowest: Role): boolean =>
  role !== undefined && RANKS[role] >= RANKS[lowest]

export const useRole = (publisherId: string): Role | undefined =>
  roleIn(useQuery(publisherQuery(publisherId)).data, useMe()?.id)
