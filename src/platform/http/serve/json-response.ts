import { constants, gzipSync } from 'node:zlib'

import type { Response } from 'express'

import { errors } from '../../domain/errors.ts'
import type { Caller } from '../access/caller.ts'
import { SMALL, type Budget } from '../../json-body/budget.ts'
import { changes, type JsonResponse, type Route } from '../route.ts'
import { acceptsEncoding } from './negotiate.ts'
import { isKnown, tagOfBytes } from './etag.ts'
import { sendStream } from './file-response.ts'

interface Asked {
  route: Route
  caller: Caller | undefined
  /** Client whose budget the response counts against until it is sent. */
  address: string
}

/**
 * Writes a JSON response; a large one resolves when all of it was sent or the client has gone. Throws 503 `busy` when
 * too many bytes of responses are not yet sent, and `outcome_unknown` where the request has changed something.
 * Not async, so that no frame keeps the response while it is sent: docs/decisions.md, Requests and responses.
 */
export const sendJson = (
  budget: Budget,
  response: Response,
  { status, headers, body, text: given, more }: JsonResponse,
  { route, caller, address }: Asked,
): Promise<void> => {
  const reservation = budget.open(address)
  const take = (bytes: number): void => {
    try {
      reservation.take('unsent', bytes)
    } catch (error) {
      reservation.release()
      throw changes(route) ? errors.outcomeUnknown(error) : error
    }
  }
  // Asked before the text is made, which may take more memory than there is.
  const least = given === undefined ? sizeOf(body) : given.length
  if (least > SMALL) take(least)
  const text = given ?? toText(body)
  const head = { ...makeReadHeaders(route, { caller, text }), ...headers }
  const isOld = route.read && isKnown(response.req.headers['if-none-match'], head['etag'])
  if (text === undefined || isOld) {
    reservation.release()
    setHead(response, isOld ? 304 : status, head).end()
    return DONE
  }
  const length = Buffer.byteLength(text)
  if (more === undefined && length <= SMALL) {
    setHead(response, status, head)
    if (isPacked(route, response, length)) sendPacked(response, text)
    else sendSmall(response, text, length)
    return DONE
  }
  const bytes = Buffer.from(text)
  take(length - (least > SMALL ? least : 0))
  const rest = more && inParts(budget, address, more)
  return sendLarge(setHead(response, status, head), bytes, rest).finally(reservation.release)
}

const DONE = Promise.resolve()

const toText = (body: unknown): string | undefined =>
  body === undefined ? undefined : JSON.stringify(body)

/** Characters that a value has at least as JSON. */
const sizeOf = (value: unknown): number => {
  if (typeof value === 'string') return value.length + 2
  if (typeof value !== 'object' || value === null) return 1
  let size = 2
  if (Array.isArray(value)) for (const item of value) size += sizeOf(item) + 1
  else
    for (const name of Object.keys(value))
      size += name.length + 4 + sizeOf(value[name as keyof typeof value])
  return size
}

const setHead = (
  response: Response,
  status: number,
  { vary, ...head }: Record<string, string>,
): Response => {
  response.statusCode = status
  if (vary !== undefined) response.vary(vary)
  for (const [name, value] of Object.entries(head)) response.setHeader(name, value)
  return response
}

const JSON_TYPE = 'application/json; charset=utf-8'

const setType = (response: Response): Response =>
  response.hasHeader('content-type') ? response : response.setHeader('content-type', JSON_TYPE)

/** As one text, so that head and body are one write. */
const sendSmall = (response: Response, text: string, length: number): void => {
  setType(response).setHeader('content-length', length)
  if (response.req.method === 'HEAD') response.end()
  else response.end(text, 'utf8')
}

/** Bytes from which gzip pays. */
const PACKED_FROM = 2000

/** Decides on gzip: for what anybody may read, because its size shows something of a secret that is in it. */
const isPacked = ({ read }: Route, { req }: Response, length: number): boolean =>
  read === 'public' && length >= PACKED_FROM && acceptsEncoding(req.headers, 'gzip')

/** At the quickest level: 0.3 ms for 60 kB of nodes, which become 6. */
const sendPacked = (response: Response, text: string): void => {
  const bytes = gzipSync(text, { level: constants.Z_BEST_SPEED })
  setType(response).setHeader('content-encoding', 'gzip').setHeader('content-length', bytes.length)
  if (response.req.method === 'HEAD') response.end()
  else response.end(bytes)
}

/** Sends what is there and what is made on the way, which has no length. */
const sendLarge = async (
  response: Response,
  bytes: Buffer,
  more: AsyncIterable<Buffer> | undefined,
): Promise<void> => {
  setType(response)
  if (!more) response.setHeader('content-length', bytes.length)
  if (response.req.method === 'HEAD') response.end()
  else await sendStream(response, more ? inTurn(inPieces(bytes), more) : inPieces(bytes))
}

/** Divides bytes, so that what a client takes of them is seen while it does. */
export function* inPieces(bytes: Buffer): Generator<Buffer> {
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

/**
 * Makes the headers that say what caches may do with the response of a read, unless its handler says otherwise. A proxy
 * may keep it for a minute; a client asks each time. `text` is its body, undefined for a 304.
 */
const makeReadHeaders = (
  { read, auth, requestHeaders }: Pick<Route, 'read' | 'auth' | 'requestHeaders'>,
  { caller, text }: { caller: Caller | undefined; text: string | undefined },
): Record<string, string> => {
  if (read === undefined) return {}
  const isShared = read === 'public' && !caller
  const vary = [
    ...(auth === 'none' ? [] : ['Authorization', 'X-API-KEY']),
    ...(requestHeaders?.includes('Accept-Language') ? ['Accept-Language'] : []),
    ...(read === 'public' ? ['Accept-Encoding'] : []),
  ]
  return {
    ...(text === undefined ? {} : { etag: tagOfBytes(text) }),
    'cache-control': isShared ? 'public, max-age=0, s-maxage=60' : 'private, no-cache',
    // Without it a proxy would give the public response to a caller who may see more.
    ...(vary.length > 0 && { vary: vary.join(', ') }),
  }
}
