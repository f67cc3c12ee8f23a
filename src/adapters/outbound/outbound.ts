import { makeClient, type Outbound, type OutboundRules } from './client.ts'
import { openSystemSocket, resolveBySystem, type Resolve } from './connector.ts'

export interface OutboundOptions extends OutboundRules {
  /** All addresses of a host name; the system's resolver unless given. */
  resolve?: Resolve | undefined
}

/**
 * Makes the client that judges every address before it dials it.
 * @throws Error when `deny` holds something that is no range.
 */
export const makeOutbound = ({ resolve = resolveBySystem, ...rules }: OutboundOptions): Outbound =>
  makeClient(rules, { resolve, openSocket: openSystemSocket })
