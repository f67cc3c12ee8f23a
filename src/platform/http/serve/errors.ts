import { LostSecretError } from '../../adapters/secrets.ts'
import type { ErrorRequestHandler, Response } from 'express'

import { ApiError, apiError, errors, type ErrorFacts } from '../../domain/errors.ts'
import { isUnavailable } from '../../db/sqlstate.ts'
import type { Log } from '../../log.ts'
import { endEarly, isSending } from '../body/early-response.ts'
import { hasBody } from '../../json-body/media-type.ts'
import { closeWhenStopping, type Lifecycle } from './lifecycle.ts'

interface ErrorBody {
  error: string
  message: string
  details?: string[]
  request_id: string
}

/** Another form of errors, for clients that look for more in them. */
export interface ErrorForm {
  name: string
  /** True for a path whose errors have it, whether a route is there or not. */
  isOn(path: string): boolean
  /** Makes the `details` of an error, which are always there. */
  detailsOf(error: ErrorFacts): string[]
  /** Their schema. */
  details: object
}

/** Makes the caller's error of any thrown value: known errors as they are, an unreachable server 503, all else 500. */
export const toApiError = (error: unknown): ApiError => {
  if (error instanceof ApiError) return error
  // An operator may put the key back.
  if (isUnavailable(error) || error instanceof LostSecretError) return errors.unavailable(error)
  return apiError('internal_error', undefined, { cause: error })
}

/**
 * Makes the body of an error. `path` is the request's path. Undefined: it could not be read, and the body has what
 * clients of any route look for. `form` is the form of errors on some routes.
 */
export const errorBody = (
  error: ApiError,
  {
    requestId,
    path,
    form,
  }: { requestId: string; path: string | undefined; form: ErrorForm | undefined },
): ErrorBody & Record<string, unknown> => {
  const details =
    form && (path === undefined || form.isOn(path)) ? form.detailsOf(error) : error.details
  return {
    error: error.code,
    message: error.message,
    ...error.extra,
    ...(details === undefined ? {} : { details }),
    request_id: requestId,
  }
}

/** Makes the one place that turns an error into a response. */
export const makeErrorRenderer =
  ({
    log,
    lifecycle,
    errorForm: form,
  }: {
    log: Log
    lifecycle: Lifecycle
    errorForm: ErrorForm
  }): ErrorRequestHandler =>
  async (error: unknown, request, response: Response, _next) => {
    const known = toApiError(error)
    const requestId = String(response.getHeader('x-request-id') ?? '')
    logError(log, known, requestId)
    if (response.headersSent) {
      response.destroy()
      return
    }
    closeWhenStopping(lifecycle, response)
    response.setHeader('cache-control', 'no-store')
    response.status(known.status).set(known.headers).type('application/json')
    const body = JSON.stringify(errorBody(known, { requestId, path: request.path, form }))
    if (hasBody(request.headers) && isSending(request)) await endEarly(request, response, body)
    else response.send(body)
  }

const logError = (log: Log, error: ApiError, requestId: string): void => {
  const facts = { request_id: requestId, code: error.code, err: error.cause }
  if (error.status === 500) log.error(facts, 'request failed')
  else if (error.status > 500) log.warn(facts, 'request rejected for now')
  else log.debug(facts, 'request rejected')
}
