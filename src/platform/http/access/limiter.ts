import type { Request, Response } from 'express'

import type { Caller } from './caller.ts'
import { toApiError } from '../serve/errors.ts'
import { addressOf, principalOf } from './principal.ts'
import type { QuotaName, RateLimits } from './rate-limit.ts'
import type { Route } from '../route.ts'

/** Codes of rejected credentials, which guesses and forgotten tokens get. */
const REJECTED_CREDENTIALS = [
  'unauthorized',
  'invalid_personal_access_token',
  'identity_token_refused',
]

/** Counts requests against the quotas of their address and caller. Without quotas it lets everything through. */
export const makeLimiter = (
  limits: RateLimits | undefined,
  rules?: { rateFactor(owner: string): number },
) => ({
  /** Any request of an address, before anything is known of it. */
  async enter(route: Route, address: string): Promise<void> {
    if (limits && quotaOf(route) !== undefined) await limits.take('ip', address)
  },

  /** A request of a known caller. Every response says what is left of the quota, also a rejection. */
  async count(route: Route, { address, response, caller }: Asked): Promise<void> {
    const quota = quotaOf(route)
    if (!limits || quota === undefined) return
    const isPersonal = quota === 'create' || quota === 'write'
    const principal = isPersonal && caller ? principalOf(caller, undefined) : address
    const factor = isPersonal && caller ? (rules?.rateFactor(caller.owner) ?? 1) : 1
    response.set(await limits.take(quota, principal, factor))
  },

  /** The error of a request: a rejected credential becomes a 429 when its address has had too many rejected. */
  async reject(request: Request, error: unknown): Promise<unknown> {
    if (!limits || !REJECTED_CREDENTIALS.includes(toApiError(error).code)) return error
    return await limits.take('auth', addressOf(request)).then(
      () => error,
      (tooMany: unknown) => tooMany,
    )
  },
})

interface Asked {
  address: string
  response: Response
  caller: Caller | undefined
}

/** The quota that a route counts against; undefined for a route that is never rejected. */
export const quotaOf = ({ method, quota, evenWhileClosing }: Route): QuotaName | undefined =>
  evenWhileClosing ? undefined : (quota ?? (method === 'get' ? 'read' : 'write'))
