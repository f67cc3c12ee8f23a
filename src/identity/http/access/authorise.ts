import type { Request } from 'express'

import { apiError, errors } from '../../../platform/domain/errors.ts'
import { credentialKind } from '../../../platform/domain/credential.ts'
import { isUuid } from '../../../platform/domain/uuid.ts'
import type { TaskFamily } from '../../../platform/domain/task-scope.ts'
import { changes, type Route } from '../../../platform/http/route.ts'
import type { Authenticate } from './auth.ts'
import type { Caller, CredentialHeaders } from '../../../platform/http/access/caller.ts'
import { tokenInQuery } from '../../../platform/http/access/task-token.ts'
import type { KeyScope } from '../../../platform/domain/key-scope.ts'

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
    if (route.hasOwnSecret?.(request.headersDistinct, request.url)) return undefined
    const requestId = request.res?.get('x-request-id')
    const takes = { tokens: Boolean(route.takesTokens), requestId }
    const caller = await authenticate(readHeaders(route, request), takes)
    if (caller?.taskId !== undefined) requireTask(route, request.params, caller.taskId)
    if (!caller && route.auth !== 'optional')
      throw errors.unauthorized(undefined, route.unauthorizedMessage ?? NEEDED[route.auth])
    if (route.auth === 'jwt' && caller?.scheme !== 'jwt')
      throw apiError('forbidden', 'This route takes a bearer token of the issuer, not an API key.')
    const limited = applyScopes(route, caller)
    if (caller) await route.admit?.(caller, request.params)
    // It may be for one node, so nothing is read as the member who made it.
    if (caller?.token && route.takesTokens === 'to-read') return undefined
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

/** The headers of a request, with a token for one task in its query as if it were in the header. */
const readHeaders = (route: Route, request: Request): CredentialHeaders => {
  const headers = request.headersDistinct
  const token = tokenInQuery(route, request)
  if (token === undefined || headers['authorization'] || headers['x-api-key']) return headers
  if (credentialKind(token) === 'task_token') return { authorization: `Bearer ${token}` }
  throw errors.unauthorized(new Error('query: no token for one task'))
}

/** Rejects a token for one task where that is not read, with 403. */
const requireTask = (route: Route, params: Request['params'], taskId: string): void => {
  if (!route.takesTaskTokens || String(params['task_id']).toLowerCase() !== taskId)
    throw errors.taskTokenInsufficient(taskId)
}

const OF_TASKS = ['images', 'videos'] as const
const FAMILIES = ['image', 'video'] as const

/** Scopes by tag: one of them is enough for the tag's routes. Changes under other tags take no key with scopes. */
const BY_TAG: Readonly<Record<string, readonly KeyScope[]>> = {
  'Image tasks': ['images'],
  Templates: ['images'],
  'Video tasks': ['videos'],
  Tasks: OF_TASKS,
  Uploads: OF_TASKS,
  Files: OF_TASKS,
  Events: OF_TASKS,
  'Live progress': OF_TASKS,
  Endpoints: ['webhooks'],
  Publishers: ['publish'],
  Packs: ['publish'],
  Versions: ['publish'],
  'Host nodes': ['publish'],
  'Trusted publishing': ['publish'],
}

const scopesOf = (route: Route): readonly KeyScope[] =>
  route.scopes ?? [...(BY_TAG[route.tag] ?? []), ...(changes(route) ? [] : (['read'] as const))]

/**
 * Rejects a key whose scopes do not allow a route, with 403, and limits its caller to the tasks that they are for. A key
 * without scopes and cap may do what its owner may.
 */
const applyScopes = (route: Route, caller: Caller | undefined): Caller | undefined => {
  const scopes = caller?.keyLimits?.scopes
  if (!scopes) return caller
  // Nobody needs a credential for those.
  if (route.read === 'public' || (route.auth === 'optional' && route.readsOnly)) return caller
  const allowed = scopesOf(route)
  if (!allowed.some((scope) => scopes.includes(scope)))
    throw errors.keyScopeInsufficient(allowed, scopes)
  if (allowed.includes('read') && scopes.includes('read')) return caller
  const families = FAMILIES.filter((family) => scopes.includes(`${family}s`))
  return families.length === FAMILIES.length ? caller : { ...caller, families }
}

/** Rejects a key whose scopes do not allow tasks of a family, with 403. */
const requireFamily = ({ families, keyLimits }: Caller, family: TaskFamily): void => {
  if (families?.includes(family) === false)
    throw errors.keyScopeInsufficient([`${family}s`], keyLimits?.scopes ?? [], 'task')
}
