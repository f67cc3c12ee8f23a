import { makeClient, type Outbound, type OutboundRules } from './client.ts'
import { openSystemSocket } from './connector.ts'
import { makeResolver, type Resolve } from './resolver.ts'

export interface OutboundOptions extends OutboundRules {
  /** Looks names up; by the system's name servers unless given. */
  resolve?: Resolve | undefined
}

/**
 * Makes the client that checks every address before it dials it.
 * @throws Error when `deny` holds something that is no range.
 */
export const makeOutbound = ({ resolve = makeResolver(), ...rules }: OutboundOptions): Outbound =>
  makeClient(rules, { resolve, openSocket: openSystemSocket })
