import type { Response } from 'express'

import { ApiError, errors } from '../../domain/shared/errors.ts'
import type { Caller } from '../access/auth.ts'
import { addressOf } from '../access/principal.ts'
import { SMALL } from '../body/budget.ts'
import type { Budget } from '../body/budget.ts'
import type { JsonAnswer, Route } from '../route.ts'
import { makeReadHeaders } from './cache.ts'
import { isKnown } from './etag.ts'
import { sendStream } from './file-response.ts'

interface Asked {
  route: Route
  caller: Caller | undefined
}

/**
 * Writes a JSON answer; a large one resolves when all of it was sent or the client has gone. Throws 503 `busy` when too
 * many bytes of answers are not yet sent, and `outcome_unknown` where the request has changed something.
 */
export const sendJson = async (
  budget: Budget,
  response: Response,
  { status, headers, body, text = toText(body), more }: JsonAnswer,
  { route, caller }: Asked,
): Promise<void> => {
  const { vary, ...rest } = { ...makeReadHeaders(route, { caller, text }), ...headers }
  const isOld = route.read && isKnown(response.req.headers['if-none-match'], rest['etag'])
  const bytes = text === undefined || isOld ? undefined : Buffer.from(text)
  const reservation = budget.open(addressOf(response.req))
  try {
    reservation.take('unsent', bytes?.length ?? 0)
    if (vary !== undefined) response.vary(vary)
    response.set(rest).status(isOld ? 304 : status)
    if (bytes === undefined) response.end()
    else if (more === undefined) await sendBytes(response.type('application/json'), bytes)
    else await sendParts(budget, response.type('application/json'), bytes, more)
  } catch (error) {
    const isTooMuch = error instanceof ApiError && error.code === 'busy'
    throw isTooMuch && changes(route) ? errors.outcomeUnknown(error) : error
  } finally {
    reservation.release()
  }
}

const toText = (body: unknown): string | undefined =>
  body === undefined ? undefined : JSON.stringify(body)

const changes = ({ method, readsOnly }: Route): boolean => method !== 'get' && readsOnly !== true

/** In pieces, so that what a client takes of them is seen while it does. */
const sendBytes = async (response: Response, bytes: Buffer): Promise<void> => {
  if (bytes.length <= SMALL || response.req.method === 'HEAD') response.send(bytes)
  else await sendStream(response.set('content-length', String(bytes.length)), inPieces(bytes))
}

function* inPieces(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += SMALL) yield bytes.subarray(at, at + SMALL)
}

/** Without a length; each part is made when those before it were taken. */
const sendParts = async (
  budget: Budget,
  response: Response,
  first: Buffer,
  more: AsyncIterable<string>,
): Promise<void> => {
  if (response.req.method === 'HEAD') response.end()
  else await sendStream(response, inParts(budget, addressOf(response.req), first, more))
}

async function* inParts(
  budget: Budget,
  address: string,
  first: Buffer,
  more: AsyncIterable<string>,
): AsyncGenerator<Buffer> {
  yield* inPieces(first)
  for await (const text of more) {
    const part = Buffer.from(text)
    const reservation = budget.open(address)
    try {
      reservation.take('unsent', part.length)
      yield* inPieces(part)
    } finally {
      reservation.release()
    }
  }
}
