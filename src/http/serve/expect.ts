import type { IncomingMessage, ServerResponse } from 'node:http'

/** Tells a client that waits for it (`Expect: 100-continue`) to send its body, once the headers are accepted. */
export const sendContinue = ({ headers }: IncomingMessage, response: ServerResponse): void => {
  if (headers.expect?.toLowerCase() === '100-continue') response.writeContinue()
}
