import { withinDeadline } from '../../db/client.ts'
import { findUser } from '../../db/shared/app-user.ts'
import { User } from '../../domain/registry/member.ts'
import { getCaller } from '../access/caller.ts'
import type { ReadDeps } from '../deps.ts'
import { defineRoute } from '../route.ts'
import type { Route } from '../route.ts'

export const makeUserRoutes = (deps: ReadDeps): Route[] => [
  defineRoute({
    tag: 'Users',
    auth: 'required',
    method: 'get',
    path: '/users',
    summary: 'Read who the caller is',
    read: 'private',
    responses: {
      200: {
        description: 'The caller.',
        schema: User,
        example: { id: 'alice', name: 'Alice', email: 'alice@example.com', isAdmin: false },
      },
    },
    errors: [],
    // As the token says, or, with an API key, as the last token of its owner said.
    handler: async (request) => {
      const { principal: id, scheme, profile, isPlatformAdmin = false } = getCaller(request)
      const known =
        scheme === 'jwt' ? profile : await withinDeadline(deps.sql, findUser(deps.sql, id))
      return { status: 200, body: { name: id, ...known, id, isAdmin: isPlatformAdmin } }
    },
  }),
]
