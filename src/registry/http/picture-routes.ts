import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'

import { RateLimiterMemory } from 'rate-limiter-flexible'
import { Type } from 'typebox'

import type { FetchPicture } from '../picture/fetch-picture.ts'
import { StorageError, type Storage } from '../../platform/storage/storage.ts'
import { withinDeadline } from '../../platform/db/client.ts'
import { findLogo, findNodePictures, findPicture, keepPicture } from '../db/picture.ts'
import type { NamedPicture } from '../db/picture.ts'
import { pictureIssue, type FetchedPicture } from '../domain/picture-address.ts'
import { apiError, errors, type ApiError } from '../../platform/domain/errors.ts'
import { makeSemaphore, type Semaphore } from '../../platform/domain/semaphore.ts'
import { digest } from '../../identity/http/access/digest.ts'
import { FILE_RESPONSES } from '../../tasks/http/file-routes.ts'
import { defineRoute } from '../../platform/http/route.ts'
import type { Route, RouteRequest, StreamResponse } from '../../platform/http/route.ts'
import { planFile, sendFile } from '../../platform/http/serve/file-response.ts'
import { getNodeAccess, getPublisherAccess } from './access.ts'
import { makeKeptPictureRoutes, pictureKey, type KeptPictureDeps } from './kept-picture-routes.ts'
import { NODE_ERRORS, OfNode, OfPublisher, PUBLISHER_ERRORS, PUBLISHER_PATH } from './paths.ts'
import { cacheFor, type ReaderDeps } from './readers.ts'

const [ICON_SIDE, BANNER_SIDE] = [128, 1200]

const COMMON = {
  auth: 'optional',
  method: 'get',
  unread: 'ignored',
  description:
    'What was put into the store, or lies at the address, as WebP of at most 128 pixels a side, a banner of 1200: the first frame of a raster image of up to 1 MiB and 16 megapixels, without metadata. An address is fetched at most daily, by this service alone, so that pages need no address of a stranger. The 404 says to members of the publisher why it cannot be shown.',
  query: Type.Object({
    missing: Type.Enum(['404', '204'], {
      default: '404',
      description:
        'Status where no picture can be shown, or not now. A browser reports each 404 as an error of the page.',
    }),
  }),
  requestHeaders: ['Range', 'If-None-Match', 'If-Range'],
  responses: { ...FILE_RESPONSES, 204: { description: 'No picture, with `missing=204`.' } },
} as const
const ERRORS = ['picture_not_found', 'range_not_satisfiable'] as const

/** Pictures of nodes and publishers: kept in the store, or named by addresses of others. */
export const makePictureRoutes = (deps: PictureDeps): Route[] => {
  const { sql } = deps
  const semaphore = makeSemaphore(AT_ONCE)
  const read = makeReadPicture(deps, semaphore)
  const respond = async (request: PictureRequest, { name, ...asked }: Asked & { name: string }) => {
    const isOptional = request.query.missing === '204'
    const { bytes, error } = await read(asked).catch((reason: unknown) => {
      if (isOptional) return { bytes: null, error: null }
      throw reason
    })
    if (bytes) return sendPicture(deps, request, bytes)
    if (isOptional) return { status: 204 }
    throw await notShown(deps, request, { ...asked, name, error })
  }
  const ofNode = (name: 'icon' | 'banner', side: number): Route =>
    defineRoute({
      ...COMMON,
      tag: 'Packs',
      path: `/nodes/:nodeId/${name}`,
      summary: `Read the ${name} of a pack`,
      params: OfNode,
      errors: [...NODE_ERRORS, ...ERRORS],
      handler: async (request) => {
        // Not the caller's: what a platform admin may see of a banned node would be kept by caches for all.
        const asked = { ...request.params, access: 'read', caller: undefined } as const
        const { id, publisherId } = await getNodeAccess(deps, asked)
        const named = (await withinDeadline(sql, findNodePictures(sql, id)))?.[name]
        return await respond(request, { name, named, publisherId, side })
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
        const named = await withinDeadline(sql, findLogo(sql, publisherId))
        return await respond(request, { name: 'logo', named, publisherId, side: ICON_SIDE })
      },
    }),
    ...makeKeptPictureRoutes(deps, { semaphore, iconSide: ICON_SIDE, bannerSide: BANNER_SIDE }),
  ]
}

type PictureRequest = Pick<RouteRequest, 'incoming' | 'headers' | 'caller'> & {
  query: { missing: string }
}

/** Makes the 404. Callers who can mend it also get the reason. */
const notShown = async (
  { sql, outbound }: PictureDeps,
  { caller }: Pick<RouteRequest, 'caller'>,
  { name, named, error, publisherId }: Pick<Asked, 'named' | 'publisherId'> & NotShown,
): Promise<ApiError> => {
  const url = named?.url
  const known = url && pictureIssue(url, (address) => outbound.validateUrl(address).rejected)
  const reason = known || error
  if (!caller || !reason) return apiError('picture_not_found')
  const asked = { publisherId, access: 'read', caller } as const
  const { role } = await getPublisherAccess({ sql }, asked)
  if (role === null && !caller.isPlatformAdmin) return apiError('picture_not_found')
  return apiError(
    'picture_not_found',
    `The ${name} cannot be shown: ${reason}. Name another address or put another picture, or ask again 10 minutes after it is mended.`,
  )
}

interface NotShown {
  name: string
  error: string | null
}

export interface PictureDeps extends KeptPictureDeps, ReaderDeps {
  fetchPicture: FetchPicture
  /** Longest that a reader waits for a fetch, which goes on without it. */
  pictureWaitMs: number
}

interface Asked {
  named: NamedPicture | undefined
  /** Publisher that named it. */
  publisherId: string
  /** Longest side in pixels. */
  side: number
}

type ReadPicture = (asked: Asked) => Promise<FetchedPicture>

/** Fetches at once; and of one publisher in a minute and in a day, which also bounds what is kept, and from one host. */
const AT_ONCE = 4
const OF_PUBLISHER = [
  { points: 30, duration: 60 },
  { points: 1000, duration: 86_400 },
]
const FROM_HOST = { points: 300, duration: 60 }
/** Longer than the two steps of a fetch take together. */
const PATIENCE_MS = 10_000

/** Makes the reader of pictures. It keeps a picture at a stranger's address for a day, and fetches it once for all. */
const makeReadPicture = (
  { sql, storage, fetchPicture, pictureWaitMs }: PictureDeps,
  semaphore: Semaphore,
): ReadPicture => {
  const flights = new Map<string, Promise<FetchedPicture>>()
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
    const fetched = await semaphore.run(fetching, PATIENCE_MS)
    await withinDeadline(sql, keepPicture(sql, key, fetched))
    return fetched
  }
  return async (asked) => {
    const { named, side } = asked
    const { url, kept: id } = named ?? {}
    if (!url && id) return await readKept(storage, id)
    if (!url || !URL.canParse(url)) return { bytes: null, error: null }
    const key = digest(`${side} ${url}`)
    const kept = await withinDeadline(sql, findPicture(sql, key))
    if (kept) return kept
    const flight = flights.get(key) ?? fetchOnce(key, url, asked).finally(() => flights.delete(key))
    flights.set(key, flight)
    const fetched = await Promise.race([flight, sleep(pictureWaitMs, undefined, { ref: false })])
    if (fetched) return fetched
    const still = 'It is being fetched from its address; ask again in a few seconds.'
    throw apiError('picture_not_found', still)
  }
}

const readKept = async (storage: Storage, id: string): Promise<FetchedPicture> => {
  try {
    return { bytes: await buffer((await storage.open(pictureKey(id))).stream), error: null }
  } catch (error) {
    if (!(error instanceof StorageError)) throw errors.unavailable(error)
    return { bytes: null, error: 'it is no longer in the store' }
  }
}

/** Makes the response of a route of pictures. */
const sendPicture = (
  { registryReads }: PictureDeps,
  { incoming, headers }: Pick<RouteRequest, 'incoming' | 'headers'>,
  bytes: Buffer,
): StreamResponse => {
  const plan = planFile(incoming.method, headers, {
    name: 'picture.webp',
    size: bytes.length,
    contentType: 'image/webp',
    sha256: createHash('sha256').update(bytes).digest('hex'),
    cacheControl: cacheFor(registryReads, 'max-age=300'),
  })
  const { start, end } = plan.range ?? { start: 0, end: bytes.length - 1 }
  const isWhole = incoming.method === 'HEAD' || plan.status === 304
  const body = isWhole ? undefined : Readable.from([bytes.subarray(start, end + 1)])
  return { stream: (response) => sendFile(response, plan, body) }
}
