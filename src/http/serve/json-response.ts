import type { Response } from 'express'

import { errors } from '../../domain/shared/errors.ts'
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
 *
 * It is not async, and its caller returns its promise: a function that waits would keep the answer and its text in
 * memory, three times the bytes that are counted, until the client has taken them.
 */
export const sendJson = (
  budget: Budget,
  response: Response,
  { status, headers, body, text = toText(body), more }: JsonAnswer,
  { route, caller }: Asked,
): Promise<void> => {
  const head = { ...makeReadHeaders(route, { caller, text }), ...headers }
  const isOld = route.read && isKnown(response.req.headers['if-none-match'], head['etag'])
  const bytes = text === undefined || isOld ? undefined : Buffer.from(text)
  const reservation = budget.open(addressOf(response.req))
  try {
    reservation.take('unsent', bytes?.length ?? 0)
  } catch (error) {
    throw changes(route) ? errors.outcomeUnknown(error) : error
  }
  const part = more && inParts(budget, addressOf(response.req), more)
  return write(response.status(isOld ? 304 : status), head, bytes, part).finally(
    reservation.release,
  )
}

const toText = (body: unknown): string | undefined =>
  body === undefined ? undefined : JSON.stringify(body)

const changes = ({ method, readsOnly }: Route): boolean => method !== 'get' && readsOnly !== true

const write = async (
  response: Response,
  { vary, ...head }: Record<string, string>,
  bytes: Buffer | undefined,
  more: AsyncIterable<Buffer> | undefined,
): Promise<void> => {
  if (vary !== undefined) response.vary(vary)
  response.set(head)
  if (bytes === undefined) response.end()
  else await writeBody(response.type('application/json'), bytes, more)
}

/** In pieces, so that what a client takes of them is seen while it does. What is made on the way has no length. */
const writeBody = async (
  response: Response,
  bytes: Buffer,
  more: AsyncIterable<Buffer> | undefined,
): Promise<void> => {
  const isHead = response.req.method === 'HEAD'
  if (more && isHead) response.end()
  else if (more) await sendStream(response, inTurn(inPieces(bytes), more))
  else if (isHead || bytes.length <= SMALL) response.send(bytes)
  else await sendStream(response.set('content-length', String(bytes.length)), inPieces(bytes))
}

function* inPieces(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += SMALL) yield bytes.subarray(at, at + SMALL)
}

async function* inTurn(
  first: Iterable<Buffer>,
  more: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  yield* first
  yield* more
}

/** Each part is made when those before it were taken. */
async function* inParts(
  budget: Budget,
  address: string,
  more: AsyncIterable<string>,
): AsyncGenerator<Buffer> {
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
