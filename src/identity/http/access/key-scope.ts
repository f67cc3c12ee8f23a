import type { KeyScope } from '../../../platform/domain/key-scope.ts'
import { errors } from '../../../platform/domain/errors.ts'
import type { TaskFamily } from '../../../platform/domain/task-scope.ts'
import { changes, type Route } from '../../../platform/http/route.ts'
import type { Caller } from '../../../platform/http/access/caller.ts'

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
  Nodes: ['publish'],
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
export const applyScopes = (route: Route, caller: Caller | undefined): Caller | undefined => {
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
export const requireFamily = ({ families, keyLimits }: Caller, family: TaskFamily): void => {
  if (families?.includes(family) === false)
    throw errors.keyScopeInsufficient([`${family}s`], keyLimits?.scopes ?? [], 'task')
}
