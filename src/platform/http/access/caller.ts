import { ANONYMOUS } from '../../domain/account.ts'
import { apiError, errors } from '../../domain/errors.ts'
import type { KeyScope } from '../../domain/key-scope.ts'
import type { OwnTasks, TaskScope } from '../../domain/task-scope.ts'

/** User and owner that a request acts for. */
export interface Caller {
  /** The user id: `sub` of the token, or the owner of the key. */
  principal: string
  /** Owner of what the caller makes. */
  owner: string
  scheme: 'jwt' | 'api_key' | 'personal_access_token' | 'task_token'
  keyId?: string
  /** Scopes of an API key where that is less than what its owner may. */
  keyLimits?: { scopes: readonly KeyScope[]; isCapped: boolean }
  /** Families of the tasks that a request of a key with scopes may reach; absent: both. */
  families?: TaskScope['families']
  /** Scope of a personal access token: a node, or with null all of its publisher's. A CI job's was exchanged. */
  token?: {
    id: string
    publisherId: string
    nodeId: string | null
    scope: 'publish' | 'read'
    isExchanged: boolean
  }
  /** The one task that a task token reads; its owner is then the owner here. */
  taskId?: string
  /** `exp` of a bearer token of the issuer. */
  expiresAt?: number
  /** Session of AUTH=builtin that it was given in. */
  session?: string
  /** Claims of the token about its user; absent with an API key. */
  profile?: Profile
  /** True for somebody who runs the service. */
  isPlatformAdmin?: boolean
  /** True for a key with scopes or a cap of such a user. */
  isAdminsKey?: boolean
}

/** Claims of a token about its user, beside the subject. */
export interface Profile {
  name?: string
  email?: string
}

/** Header values by lower-case name. `headersDistinct` of a request keeps a repeated header apart, `headers` hides it. */
export type CredentialHeaders = Readonly<Record<string, string | string[] | undefined>>

/**
 * Time for which what was found of a caller counts, because a page asks several times a second. A stream asks again as
 * often, so both together are the five seconds within which what was taken away is found out.
 */
export const KNOWN_MS = 2500

interface Asking {
  caller: Caller | undefined
}

/** The caller of a route that needs one; the app lets no request without a caller through to it. */
export const getCaller = ({ caller }: Asking): Caller => {
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
export const tasksOf = (request: Asking): OwnTasks => {
  const { owner, families } = getCaller(request)
  return { owner, families }
}

/** Whose task a request makes or reads, where no credential is needed: all callers without one share an owner. */
export const ownerOf = ({ caller }: Asking): string => caller?.owner ?? ANONYMOUS
