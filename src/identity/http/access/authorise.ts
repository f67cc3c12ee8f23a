import type { Request } from 'express'

import { apiError, errors } from '../../../platform/domain/errors.ts'
import { isUuid } from '../../../platform/domain/uuid.ts'
import type { TaskFamily } from '../../../platform/domain/task-scope.ts'
import type { Route } from '../../../platform/http/route.ts'
import type { Authenticate } from './auth.ts'
import type { Caller } from '../../../platform/http/access/caller.ts'
import { applyScopes, requireFamily } from './key-scope.ts'

export interface AuthoriseDeps {
  authenticate: Authenticate
  /** Finds the family of a task that the owner may read. */
  findTaskFamily(task: { id: string; owner: string }): Promise<TaskFamily | undefined>
}

/** Makes what finds the caller of a request. It throws 401, 403 or 503 where the route takes no such request. */
export const makeAuthorise =
  ({ authenticate, findTaskFamily }: AuthoriseDeps) =>
  async (route: Route, request: Request): Promise<Caller | undefined> => {
    if (route.auth === 'none') return undefined
    if (route.hasOwnSecret?.(request.headersDistinct)) return undefined
    const takes = { tokens: route.takesTokens }
    const caller = await authenticate(request.headersDistinct, takes)
    if (!caller && route.auth !== 'optional')
      throw errors.unauthorized(undefined, route.unauthorizedMessage ?? NEEDED[route.auth])
    if (route.auth === 'jwt' && caller?.scheme !== 'jwt')
      throw apiError('forbidden', 'This route takes a bearer token of the issuer, not an API key.')
    const limited = applyScopes(route, caller)
    const id = String(request.params['task_id'])
    const family =
      limited?.families && isUuid(id)
        ? await findTaskFamily({ id, owner: limited.owner })
        : undefined
    if (limited && family) requireFamily(limited, family)
    return limited
  }

const NEEDED = {
  required:
    'This route needs a credential: a bearer token or an API key (Authorization: Bearer …, or X-API-KEY).',
  jwt: 'This route needs a bearer token of the issuer (Authorization: Bearer …).',
}
