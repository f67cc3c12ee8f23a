import type { ErrorRequestHandler, Response } from 'express'

import { ApiError, apiError, errors } from '../../domain/shared/errors.ts'
import { videoDetails } from '../../domain/video-task/video-reason.ts'
import { isUnavailable } from '../../db/sqlstate.ts'
import type { Log } from '../../log.ts'
import { endEarly, isStillSending } from '../body/early-response.ts'
import { hasBody } from '../../json-body/media-type.ts'
import { closeWhenStopping, type Lifecycle } from './lifecycle.ts'
import { isVideoPath } from '../../domain/video-task/video-path.ts'

interface ErrorBody {
  error: string
  message: string
  details?: string[]
  request_id: string
}

/** Makes the caller's error of any thrown value: known errors as they are, an unreachable server 503, all else 500. */
export const toApiError = (error: unknown): ApiError => {
  if (error instanceof ApiError) return error
  if (isUnavailable(error)) return errors.unavailable(error)
  return apiError('internal_error', undefined, { cause: error })
}

/**
 * The body of an error. `path` is that of the request. Undefined: it could not be read, and the body has what clients
 * of any route look for.
 */
export const errorBody = (
  error: ApiError,
  { requestId, path }: { requestId: string; path: string | undefined },
): ErrorBody & Record<string, unknown> => {
  const details = path === undefined || isVideoPath(path) ? videoDetails(error) : error.details
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
  ({ log, lifecycle }: { log: Log; lifecycle: Lifecycle }): ErrorRequestHandler =>
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
    const body = JSON.stringify(errorBody(known, { requestId, path: request.path }))
    if (hasBody(request.headers) && isStillSending(request)) await endEarly(request, response, body)
    else response.send(body)
  }

const logError = (log: Log, error: ApiError, requestId: string): void => {
  const facts = { request_id: requestId, code: error.code, err: error.cause }
  if (error.status === 500) log.error(facts, 'request failed')
  else if (error.status > 500) log.warn(facts, 'request rejected for now')
  else log.debug(facts, 'request rejected')
}
