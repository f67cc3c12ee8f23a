import type { TSchema } from 'typebox'

import type { Signer } from '../../../platform/adapters/signing.ts'
import { isKnown, quoteTag } from '../../../platform/http/serve/etag.ts'
import type { JsonResponse } from '../../../platform/http/route.ts'

/** Headers of a status route. */
const STATUS_HEADERS = [
  'ETag',
  'Cache-Control',
  'Retry-After',
  'X-Credits-Used',
  'Preference-Applied',
] as const

/** Makes the responses of a status route, as the document shows them. */
export const statusResponses = (schema: TSchema, example: unknown) => ({
  200: { description: 'The task.', schema, headers: STATUS_HEADERS, example },
  304: {
    description: 'Nothing has changed since the ETag in If-None-Match.',
    headers: STATUS_HEADERS,
  },
})

/** Retry-After of a task that an upstream renders: the service itself asks there seldom. */
export const UPSTREAM_POLL_SECONDS = 5

interface ReadResponse {
  /** Revision of the row. */
  rev: number
  credits: number
  /** Seconds to the next useful read; absent once the task has ended. */
  pollAfter: number | undefined
  /** If-None-Match. */
  known: string | undefined
  now: Date
  body(): unknown
}

/** Makes the response of a status route: the task, or 304 when the caller has it. */
export const respondToRead = (
  signer: Signer,
  { rev, credits, pollAfter, known, now, body }: ReadResponse,
): JsonResponse => {
  // Links are signed again each hour, so the response changes then although the row does not.
  const etag = quoteTag(`${rev}-${signer.linkExpiry(now) / 3600}`)
  const headers = {
    'x-credits-used': String(credits),
    etag,
    'cache-control': 'private, no-cache',
    ...(pollAfter === undefined ? {} : { 'retry-after': String(pollAfter) }),
  }
  if (isKnown(known, etag)) return { status: 304, headers }
  return { status: 200, headers, body: body() }
}
