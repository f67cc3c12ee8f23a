import { makeClient, type Outbound, type OutboundRules } from './client.ts'
import { openSystemSocket, resolveBySystem, type Resolve } from './connector.ts'

export type { Outbound } from './client.ts'
export type { Downloaded, DownloadOptions } from './download.ts'
export { OutboundFault, type OutboundFaultKind, toTaskFault } from './fault.ts'
export {
  type Answered,
  POST_LIMITS,
  type Posted,
  type PostLimits,
  type PostOptions,
  type Unanswered,
} from './post.ts'
export type { Judgement } from './url.ts'

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
