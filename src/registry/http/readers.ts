import { withinDeadline } from '../../platform/db/client.ts'
import { apiError, errors, shown } from '../../platform/domain/errors.ts'
import type { Caller } from '../../platform/http/access/caller.ts'
import type { ReadDeps } from '../../platform/http/deps.ts'
import { changes, type Route } from '../../platform/http/route.ts'
import { isMemberOfAny } from '../db/member.ts'
import type { RegistryReads } from '../domain/registry-reads.ts'

export interface ReaderDeps extends ReadDeps {
  /** REGISTRY_READS */
  registryReads: RegistryReads
}

/** Paths of the registry. Its admins' are not among them: they always may. */
export const OF_REGISTRY =
  /^\/(publishers|nodes|versions|bulk|host-nodes|archives|workflows|users\/publishers)(\/|$)/

/**
 * Limits the routes of the registry, of all there are, to those who may read it. Where not everybody may, each needs a
 * credential, whether it reads or changes: a rejection of a change also says what is there.
 */
export const limitReaders = (deps: ReaderDeps, routes: readonly Route[]): Route[] =>
  routes.map((route) => {
    if (!OF_REGISTRY.test(route.path) || route.opens === 'by-body') return route
    const taking = isOpenRead(route) ? { takesTokens: 'to-read' as const, ...route } : route
    return deps.registryReads === 'public' ? taking : makeLimited(deps, taking)
  })

const isOpenRead = (route: Route): boolean =>
  !changes(route) && (route.auth === 'optional' || route.auth === 'none')

const makeLimited = (deps: ReaderDeps, route: Route): Route => ({
  ...route,
  ...(route.read && { read: 'private' }),
  ...(route.auth !== 'jwt' && { auth: 'required' }),
  ...(isOpenRead(route) && {
    scopes: ['publish', 'read'],
    unauthorizedMessage: NEEDS_CREDENTIAL,
  }),
  errors: [...route.errors, 'forbidden', 'token_scope_insufficient'],
  async admit(caller, params) {
    // A token has no publishers of its own.
    if (route.opens !== 'to-callers' || caller.token) await requireReader(deps, caller, params)
  },
})

const NEEDS_CREDENTIAL =
  'This registry is not public (REGISTRY_READS): send a bearer token, an API key with the scope read or publish, or a personal access token (Authorization: Bearer …, or as the password of Basic).'

/** Throws the 403 of a caller who may not read the registry, and of a token that is for another node. */
export const requireReader = async (
  { sql, registryReads }: ReaderDeps,
  { principal, isPlatformAdmin, isAdminsKey, token }: Caller,
  params: Readonly<Record<string, unknown>>,
): Promise<void> => {
  const nodeId = token?.nodeId ?? undefined
  if (nodeId !== undefined && String(params['nodeId']).toLowerCase() !== nodeId.toLowerCase())
    throw errors.tokenScopeInsufficient(`is only for the pack ${shown(nodeId)}`)
  if (registryReads === 'signed-in' || isPlatformAdmin || isAdminsKey) return
  if (await withinDeadline(sql, isMemberOfAny(sql, principal))) return
  throw apiError(
    'forbidden',
    `Only members of a publisher read this registry (REGISTRY_READS), and ${shown(principal)} is none: an owner of a publisher can add this user.`,
  )
}

/** Makes Cache-Control of a file. Where the registry is not public a browser asks each time, because it may have another user. */
export const cacheFor = (registryReads: RegistryReads, rule: string): string =>
  registryReads === 'public' ? `public, ${rule}` : 'private, no-cache'
