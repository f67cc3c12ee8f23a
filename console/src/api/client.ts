import { answerOf, makeKiln } from '../../../client/index.ts'
import type { RetryOptions } from '../../../client/index.ts'
import { isPassing, KilnError } from '../../../client/lib/errors.ts'
import { noteAnswer } from './health.ts'
import { sendAsUser } from './session.ts'

export { answerOf, isPassing, KilnError }
export type { Answer, Schema } from './schema.ts'

/** Sends as whoever is signed in, and notes whether the service answers. */
export const sendRequest = async (request: Request, init?: RequestInit): Promise<Response> => {
  try {
    const response = await sendAsUser(request, init)
    noteAnswer(response.status < 500)
    return response
  } catch (error) {
    if (!(init?.signal ?? request.signal).aborted) noteAnswer(false)
    throw error
  }
}

const makeApi = (retry: RetryOptions) =>
  makeKiln({
    baseUrl: location.origin,
    fetch: (input, init) => sendRequest(input as Request, init),
    retry,
  }).routes

/**
 * Every route of the service, typed by its document. A refusal is thrown as a KilnError; queries repeat one that passes, so
 * the client does not.
 */
export const api = makeApi({ attempts: 1 })

/** Five minutes, in which a service that is away is asked again: a killed api is back in seconds. */
export const PATIENT = { attempts: 24, baseMs: 1000 }

/** The same routes for what is no query: what was sent twice is done once. */
export const patientApi = makeApi(PATIENT)
