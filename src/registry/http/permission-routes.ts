import { Type } from 'typebox'

import { mayDo } from '../domain/role.ts'
import { getOwnNodeAccess, getPublisherAccess } from './access.ts'
import type { ReadDeps } from '../../platform/http/deps.ts'
import {
  NODE_ERRORS,
  OWN_NODE_PATH,
  OfOwnNode,
  OfPublisher,
  PUBLISHER_ERRORS,
  PUBLISHER_PATH,
} from './paths.ts'
import { defineRoute } from '../../platform/http/route.ts'
import type { Route } from '../../platform/http/route.ts'

const COMMON = { auth: 'optional', method: 'get', read: 'private', unread: 'ignored' } as const

const Permissions = Type.Object({
  canEdit: Type.Boolean({ description: 'Whether a PUT of the caller would be let in.' }),
})

const responses = {
  200: { description: 'What the caller may do.', schema: Permissions, example: { canEdit: true } },
}

/** Makes the routes from which pages learn what to offer their user. Without a credential nothing may be edited. */
export const makePermissionRoutes = (deps: ReadDeps): Route[] => [
  defineRoute({
    ...COMMON,
    tag: 'Publishers',
    path: `${PUBLISHER_PATH}/permissions`,
    summary: 'Ask whether the caller may edit a publisher',
    params: OfPublisher,
    responses,
    errors: PUBLISHER_ERRORS,
    handler: async ({ params, caller }) => {
      const { role } = await getPublisherAccess(deps, { ...params, access: 'read', caller })
      return { status: 200, body: { canEdit: mayDo(role ?? undefined, 'edit_publisher') } }
    },
  }),
  defineRoute({
    ...COMMON,
    tag: 'Packs',
    path: `${OWN_NODE_PATH}/permissions`,
    summary: 'Ask whether the caller may edit a pack',
    params: OfOwnNode,
    responses,
    errors: ['publisher_not_found', ...NODE_ERRORS],
    handler: async ({ params, caller }) => {
      const { role } = await getOwnNodeAccess(deps, { ...params, access: 'read', caller })
      const canEdit = caller?.isPlatformAdmin === true || mayDo(role ?? undefined, 'edit_node')
      return { status: 200, body: { canEdit } }
    },
  }),
]
