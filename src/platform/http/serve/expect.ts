import type { IncomingMessage, ServerResponse } from 'node:http'

/** Lets a client that waits for it (`Expect: 100-continue`) send its body, once the headers are accepted. */
export const sendContinue = ({ headers }: IncomingMessage, response: ServerResponse): void => {
  if (headers.expect?.toLowerCase() === '100-continue') response.writeContinue()
}
