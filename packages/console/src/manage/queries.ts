import { queryOptions, useQuery } from '@tanstack/react-query'

import { keyOf, read, readQuery } from '../api/client.ts'
import { useMe } from '../api/queries.ts'
import { mayAs, useRole } from '../publish/queries.ts'
import { nodeQuery } from '../registry/queries.ts'

const PERMISSIONS = '/publishers/{publisherId}/nodes/{nodeId}/permissions'

/** The rights of the caller on a node; none until they are known. Members edit, owners delete and ask for reviews. */
export const useRights = (nodeId: string, publisherId: string | undefined) => {
  const me = useMe()
  const isKnown = me !== undefined && publisherId !== undefined
  const role = useRole(isKnown ? publisherId : undefined)
  const path = { publisherId: publisherId ?? '', nodeId }
  const { data } = useQuery({ ...readQuery(PERMISSIONS, { path }), enabled: isKnown })
  return {
    mayEdit: data?.canEdit === true,
    isMember: mayAs(role, 'member'),
    isOwner: mayAs(role, 'owner'),
    isAdmin: me?.isAdmin === true,
  }
}

/** A node with its own name and description, whatever the language of the reader: what is edited is no translation. */
export const ownTextsQuery = (nodeId: string) => {
  const path = { nodeId }
  return queryOptions({
    queryKey: [...keyOf('/nodes/{nodeId}', { path }), 'own-texts'],
    queryFn: ({ signal }) => read('/nodes/{nodeId}', { path }, signal, { 'accept-language': '*' }),
  })
}

/** Id of the publisher of a node, which a version does not name. */
export const usePublisherOf = (nodeId: string): string | undefined =>
  useQuery(nodeQuery(nodeId)).data?.publisher.id
