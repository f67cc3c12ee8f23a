import type { KeyScope } from '../../domain/shared/api-key.ts'
import { errors } from '../../domain/shared/errors.ts'
import { changes, type Route } from '../route.ts'
import type { Caller } from './auth.ts'

const OF_TASKS = ['images', 'videos'] as const

/** Scopes of which one is enough for the routes of a tag. What changes something under another tag takes no such key. */
const BY_TAG: Readonly<Record<string, readonly KeyScope[]>> = {
  'Image tasks': ['images'],
  Templates: ['images'],
  'Video tasks': ['videos'],
  Tasks: OF_TASKS,
  Uploads: OF_TASKS,
  Files: OF_TASKS,
  Events: OF_TASKS,
  Endpoints: OF_TASKS,
  'Live progress': OF_TASKS,
  Publishers: ['publish'],
  Nodes: ['publish'],
  Versions: ['publish'],
  'Host nodes': ['publish'],
  'Trusted publishing': ['publish'],
}

const scopesOf = ({ tag, path }: Route): readonly KeyScope[] =>
  path.startsWith('/publishers') ? ['publish'] : (BY_TAG[tag] ?? [])

/** Rejects a key whose scopes do not allow a route, with 403. A key without scopes and cap may do what its owner may. */
export const requireScope = (route: Route, caller: Caller | undefined): void => {
  const scopes = caller?.keyLimits?.scopes
  if (!scopes) return
  // Nobody needs a credential for those.
  if (route.read === 'public' || (route.auth === 'optional' && route.readsOnly)) return
  const allowed = [...scopesOf(route), ...(changes(route) ? [] : (['read'] as const))]
  if (!allowed.some((scope) => scopes.includes(scope)))
    throw errors.keyScopeInsufficient(allowed, scopes)
}
