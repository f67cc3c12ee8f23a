import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'

import { RateLimiterMemory } from 'rate-limiter-flexible'

import type { FetchPicture } from '../../adapters/picture/fetch-picture.ts'
import { withinDeadline } from '../../db/client.ts'
import type { Sql } from '../../db/client.ts'
import { findLogo, findNodePictures, findPicture, keepPicture } from '../../db/registry/picture.ts'
import { apiError, errors } from '../../domain/shared/errors.ts'
import { makeSemaphore } from '../../domain/shared/semaphore.ts'
import { digest } from '../access/digest.ts'
import { FILE_RESPONSES } from '../platform/file-routes.ts'
import { defineRoute } from '../route.ts'
import type { Route, RouteRequest, StreamResponse } from '../route.ts'
import { planFile, sendFile } from '../serve/file-response.ts'
import { getNodeAccess, getPublisherAccess } from './access.ts'
import { NODE_ERRORS, OfNode, OfPublisher, PUBLISHER_ERRORS, PUBLISHER_PATH } from './paths.ts'

const [ICON_SIDE, BANNER_SIDE] = [128, 1200]

const COMMON = {
  auth: 'none',
  method: 'get',
  description:
    'What lies at the address, as WebP of at most 128 pixels a side, a banner of 1200: the first frame of a raster image of up to 1 MiB and 16 megapixels, without metadata. It is fetched at most daily, by this service alone, so that pages need no address of a stranger.',
  requestHeaders: ['Range', 'If-None-Match', 'If-Range'],
  responses: FILE_RESPONSES,
} as const
const ERRORS = ['picture_not_found', 'range_not_satisfiable'] as const

/** Pictures that nodes and publishers name by addresses of others. */
export const makePictureRoutes = (deps: PictureDeps): Route[] => {
  const { sql } = deps
  const read = makeReadPicture(deps)
  const ofNode = (name: 'icon' | 'banner', side: number): Route =>
    defineRoute({
      ...COMMON,
      tag: 'Nodes',
      path: `/nodes/:nodeId/${name}`,
      summary: `Read the ${name} of a node`,
      params: OfNode,
      errors: [...NODE_ERRORS, ...ERRORS],
      handler: async (request) => {
        const asked = { ...request.params, access: 'read', caller: undefined } as const
        const { id, publisherId } = await getNodeAccess(deps, asked)
        const named = await withinDeadline(sql, findNodePictures(sql, id))
        return sendPicture(request, await read({ url: named?.[name], publisherId, side }))
      },
    })
  return [
    ofNode('icon', ICON_SIDE),
    ofNode('banner', BANNER_SIDE),
    defineRoute({
      ...COMMON,
      tag: 'Publishers',
      path: `${PUBLISHER_PATH}/logo`,
      summary: 'Read the logo of a publisher',
      params: OfPublisher,
      errors: [...PUBLISHER_ERRORS, ...ERRORS],
      handler: async (request) => {
        const asked = { ...request.params, access: 'read', caller: undefined } as const
        const { id: publisherId } = await getPublisherAccess(deps, asked)
        const url = await withinDeadline(sql, findLogo(sql, publisherId))
        return sendPicture(request, await read({ url, publisherId, side: ICON_SIDE }))
      },
    }),
  ]
}

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
const makeReadPicture = ({ sql, fetchPicture }: PictureDeps): ReadPicture => {
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
const sendPicture = (
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
