import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'

import { RateLimiterMemory } from 'rate-limiter-flexible'

import type { FetchPicture } from '../../adapters/picture/fetch-picture.ts'
import { withinDeadline } from '../../db/client.ts'
import type { Sql } from '../../db/client.ts'
import { findPicture, keepPicture } from '../../db/registry/picture.ts'
import { apiError, errors } from '../../domain/shared/errors.ts'
import { digest } from '../access/digest.ts'
import type { RouteRequest, StreamResponse } from '../route.ts'
import { planFile, sendFile } from '../serve/file-response.ts'
import { makeSemaphore } from '../../domain/shared/semaphore.ts'

export interface PictureDeps {
  sql: Sql
  fetchPicture: FetchPicture
}

interface Asked {
  /** As it stands in the registry. */
  url: string | null | undefined
  /** Publisher that named it. */
  publisherId: string
  /** Longest side in pixels. */
  side: number
}

type ReadPicture = (asked: Asked) => Promise<Buffer | null>

/** Fetches at once; and of one publisher in a minute and in a day, which also bounds what is kept, and from one host. */
const AT_ONCE = 4
const OF_PUBLISHER = [
  { points: 30, duration: 60 },
  { points: 1000, duration: 86_400 },
]
const FROM_HOST = { points: 300, duration: 60 }
/** Longer than the two steps of a fetch take together. */
const PATIENCE_MS = 10_000

/** Makes the reader of pictures that strangers name: kept for a day, and fetched once by all who ask meanwhile. */
export const makeReadPicture = ({ sql, fetchPicture }: PictureDeps): ReadPicture => {
  const flights = new Map<string, Promise<Buffer | null>>()
  const semaphore = makeSemaphore(AT_ONCE)
  const ofPublisher = OF_PUBLISHER.map((quota) => new RateLimiterMemory(quota))
  const fromHost = new RateLimiterMemory(FROM_HOST)
  const fetchOnce = async (key: string, url: string, { publisherId, side }: Asked) => {
    const taken = ofPublisher.map((limiter) => limiter.consume(publisherId))
    await Promise.all([...taken, fromHost.consume(new URL(url).host)]).catch(() => {
      throw errors.busy()
    })
    const fetching = () =>
      fetchPicture({ url, side }).catch((cause: unknown) => {
        throw errors.unavailable(cause)
      })
    const bytes = await semaphore.run(fetching, PATIENCE_MS)
    await withinDeadline(sql, keepPicture(sql, key, bytes))
    return bytes
  }
  return async (asked) => {
    const { url, side } = asked
    if (!url || !URL.canParse(url)) return null
    const key = digest(`${side} ${url}`)
    const kept = await withinDeadline(sql, findPicture(sql, key))
    if (kept) return kept.bytes
    const flight = flights.get(key) ?? fetchOnce(key, url, asked).finally(() => flights.delete(key))
    flights.set(key, flight)
    return await flight
  }
}

/** Makes the response of a route of pictures. */
export const sendPicture = (
  { incoming, headers }: Pick<RouteRequest, 'incoming' | 'headers'>,
  bytes: Buffer | null,
): StreamResponse => {
  if (!bytes) throw apiError('picture_not_found')
  const plan = planFile(incoming.method, headers, {
    name: 'picture.webp',
    size: bytes.length,
    contentType: 'image/webp',
    sha256: createHash('sha256').update(bytes).digest('hex'),
    cacheControl: 'public, max-age=300',
  })
  const { start, end } = plan.range ?? { start: 0, end: bytes.length - 1 }
  const isWhole = incoming.method === 'HEAD' || plan.status === 304
  const body = isWhole ? undefined : Readable.from([bytes.subarray(start, end + 1)])
  return { stream: (response) => sendFile(response, plan, body) }
}
