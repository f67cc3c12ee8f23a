import { ANONYMOUS } from '../../domain/shared/account.ts'
import { apiError, errors } from '../../domain/shared/errors.ts'
import type { OwnTasks } from '../../domain/shared/task-scope.ts'
import type { Caller } from './auth.ts'
import type { RouteRequest } from '../route.ts'

/** The caller of a route that needs one; the app lets no request without a caller through to it. */
export const getCaller = ({ caller }: Pick<RouteRequest, 'caller'>): Caller => {
  if (caller === undefined) throw errors.unauthorized()
  return caller
}

/** Returns the caller when it is a platform admin, else throws 403. */
export const requirePlatformAdmin = (caller: Caller): Caller => {
  if (!caller.isPlatformAdmin)
    throw apiError(
      'forbidden',
      'This is for platform admins, whom an operator names in ADMIN_SUBJECTS or ADMIN_CLAIM.',
    )
  return caller
}

/** Tasks that the caller may reach, for lists. */
export const tasksOf = (request: Pick<RouteRequest, 'caller'>): OwnTasks => {
  const { owner, families } = getCaller(request)
  return { owner, families }
}

/** Whose task a request makes or reads, where no credential is needed: all callers without one share an owner. */
export const ownerOf = ({ caller }: Pick<RouteRequest, 'caller'>): string =>
  caller?.owner ?? ANONYMOUS
