import { createHash } from 'node:crypto'

import type { Request } from 'express'

import { networkOf } from '../../adapters/network-of.ts'
import { ANONYMOUS_ACCOUNT } from '../../domain/account.ts'
import type { Caller } from './caller.ts'

/**
 * Makes the principal that a request's Idempotency-Key belongs to: the caller, or the client's address when there is no
 * caller. A user id may look like an address, so each says which it is.
 */
export const principalOf = (caller: Caller | undefined, address: string | undefined): string =>
  caller ? `user:${caller.principal}` : `address:${networkOf(address ?? '')}`

/**
 * Makes the account that slots, the queue, credits and fairness count for: the owner, or without a credential the
 * client's network. It is stored with the task, so it holds a digest in place of the address.
 */
export const accountOf = (caller: Caller | undefined, address: string | undefined): string =>
  caller
    ? caller.owner
    : ANONYMOUS_ACCOUNT +
      createHash('sha256')
        .update(networkOf(address ?? ''))
        .digest('hex')
        .slice(0, 32)

/** The principal of a request's client, whoever the caller is. */
export const addressOf = ({ ip }: Request): string => principalOf(undefined, ip)
