import { withinDeadline } from '../../platform/db/client.ts'
import { findUser } from '../../identity/db/app-user.ts'
import { User } from '../domain/member.ts'
import { getCaller } from '../../platform/http/access/caller.ts'
import type { ReadDeps } from '../../platform/http/deps.ts'
import { defineRoute, ok } from '../../platform/http/route.ts'
import type { Route } from '../../platform/http/route.ts'

export const makeUserRoutes = (deps: ReadDeps): Route[] => [
  defineRoute({
    tag: 'Users',
    auth: 'required',
    method: 'get',
    path: '/users',
    summary: 'Read who the caller is',
    read: 'private',
    responses: ok('The caller.', User, {
      example: { id: 'alice', name: 'Alice', email: 'alice@example.com', isAdmin: false },
    }),
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
