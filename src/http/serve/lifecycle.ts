import type { ServerResponse } from 'node:http'

/** Where a process is between start and end: draining still serves while its balancer looks away, closing refuses. */
export interface Lifecycle {
  state: 'serving' | 'draining' | 'closing'
}

/**
 * Ends the connection with this answer once the process is stopping. Called when the answer is written, not when the
 * request arrives: one that began before the stop would else leave a connection open that nobody closes.
 */
export const closeWhenStopping = ({ state }: Lifecycle, response: ServerResponse): void => {
  if (state !== 'serving' && !response.headersSent) response.setHeader('connection', 'close')
}
