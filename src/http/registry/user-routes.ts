import { User } from '../../domain/registry/member.ts'
import type { ReadDeps } from '../deps.ts'
import { readUser } from './user.ts'
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
    handler: (request) => readUser(deps, request),
  }),
]
