import { answerOf, makeKiln } from '../../../client/index.ts'
import { isPassing, KilnError } from '../../../client/lib/errors.ts'
import { noteAnswer } from './health.ts'
import { sendAsUser } from './session.ts'

export { answerOf, isPassing, KilnError }
export type { Answer, Schema } from './schema.ts'

/** Sends as whoever is signed in, and notes whether the service answers. */
export const send = async (request: Request, init?: RequestInit): Promise<Response> => {
  try {
    const response = await sendAsUser(request, init)
    noteAnswer(response.status < 500)
    return response
  } catch (error) {
    if (!(init?.signal ?? request.signal).aborted) noteAnswer(false)
    throw error
  }
}

/**
 * Every route of the service, typed by its document. A refusal is thrown as a KilnError; queries repeat one that passes, so
 * the client does not.
 */
export const api = makeKiln({
  baseUrl: location.origin,
  fetch: (input, init) => send(input as Request, init),
  retry: { attempts: 1 },
}).routes
