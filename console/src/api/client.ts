import { answerOf, makeKiln } from '../../../client/index.ts'
import { isPassing, KilnError } from '../../../client/lib/errors.ts'
import type { components, paths } from '../../../client/generated/openapi.ts'
import { noteAnswer } from './health.ts'
import { sendAsUser } from './session.ts'

export { answerOf, isPassing, KilnError }

/** A named schema of the document, such as `Schema<'Node'>`. */
export type Schema<Name extends keyof components['schemas']> = components['schemas'][Name]

/** What a GET of a path answers, such as `Answer<'/tasks'>`. */
export type Answer<Path extends keyof paths> = paths[Path] extends {
  get: { responses: { 200: { content: { 'application/json': infer Body } } } }
}
  ? Body
  : never

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
