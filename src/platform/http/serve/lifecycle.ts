import type { ServerResponse } from 'node:http'

/**
 * State of a process between start and end. draining: it still serves, while its load balancer learns of the end.
 * closing: it rejects requests.
 */
export interface Lifecycle {
  state: 'serving' | 'draining' | 'closing'
}

/**
 * Ends the connection with this response once the process is stopping. It is called when the response is written, not
 * when the request arrives: a request that began before the stop would otherwise leave a connection that nobody closes.
 */
export const closeWhenStopping = ({ state }: Lifecycle, response: ServerResponse): void => {
  if (state !== 'serving' && !response.headersSent) response.setHeader('connection', 'close')
}
