import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'

import { MAX_BYTES, MAX_PIXELS } from '../picture/limits.ts'
import type { ReducePicture } from '../picture/fetch-picture.ts'
import type { Storage } from '../../platform/storage/storage.ts'
import { isOutcomeUnknown } from '../../platform/db/unit-of-work.ts'
import { WrittenNode } from '../domain/node.ts'
import { keptPictureUrl } from '../domain/picture-address.ts'
import { WrittenPublisher } from '../domain/publisher.ts'
import { apiError, errors } from '../../platform/domain/errors.ts'
import type { Semaphore } from '../../platform/domain/semaphore.ts'
import { requireType } from '../../platform/json-body/media-type.ts'
import { takeFile, type UploadedFileDeps } from '../../platform/http/uploaded-file.ts'
import { defineRoute, ok } from '../../platform/http/route.ts'
import type { JsonResponse, Route, RouteRequest } from '../../platform/http/route.ts'
import { getOwnNodeAccess, getPublisherAccess } from './access.ts'
import type { PublisherDeps, RegistryDeps } from './deps.ts'
import { NODE, PUBLISHER } from './examples.ts'
import { makeEditNode } from './node.ts'
import {
  NODE_ERRORS,
  OWN_NODE_PATH,
  OfOwnNode,
  OfPublisher,
  PUBLISHER_ERRORS,
  PUBLISHER_PATH,
  WRITE_ERRORS,
} from './paths.ts'
import { editPublisher } from './publisher.ts'

export type KeptPictureDeps = RegistryDeps &
  Omit<PublisherDeps, 'maxPublishersPerUser'> &
  UploadedFileDeps & { storage: Storage; reducePicture: ReducePicture }

export const pictureKey = (id: string): string => `pictures/${id}/picture.webp`

const TYPES = ['image/png', 'image/jpeg', 'image/webp', 'image/avif', 'image/svg+xml']
const EXPECTED = `${TYPES.slice(0, -1).join(', ')} or ${TYPES.at(-1)}`
const isPicture = (type: string): boolean =>
  TYPES.includes(type.split(';', 1).join('').trim().toLowerCase())

const PUT = {
  auth: 'required',
  method: 'put',
  requestHeaders: ['If-Match', 'Content-Digest'],
  rawBody: { mediaType: 'image/*', description: `The picture itself: ${EXPECTED}.` },
} as const
const DELETE = { auth: 'required', method: 'delete', requestHeaders: ['If-Match'] } as const
const DESCRIPTION =
  'The picture is kept as WebP, in place of an address, and an address given afterwards replaces it. At most 1 MiB and 16 megapixels; of an SVG nothing is drawn that it names outside itself. For whoever may edit the record.'
const FILE_ERRORS = [
  'unsupported_media_type',
  'unsupported_encoding',
  'body_required',
  'image_invalid',
  'checksum_mismatch',
] as const
const EDIT_ERRORS = [...WRITE_ERRORS, 'precondition_failed'] as const

/** The routes that put a picture into the store, or remove what is there. */
export const makeKeptPictureRoutes = (
  deps: KeptPictureDeps,
  { semaphore, iconSide, bannerSide }: Sides & { semaphore: Semaphore },
): Route[] => {
  const keep = makeKeepPicture(deps, semaphore)
  const editNode = makeEditNode(deps)
  const ofNode = (name: 'icon' | 'banner', side: number): Route[] => {
    const member = name === 'icon' ? 'icon' : 'banner_url'
    const common = {
      tag: 'Packs',
      path: `${OWN_NODE_PATH}/${name}`,
      params: OfOwnNode,
      responses: ok('The pack as it is now.', WrittenNode, { example: NODE }),
    } as const
    const nodeErrors = ['publisher_not_found', ...NODE_ERRORS, ...EDIT_ERRORS] as const
    return [
      defineRoute({
        ...common,
        ...PUT,
        summary: `Put the ${name} of a pack into the store`,
        description: DESCRIPTION,
        errors: [...nodeErrors, ...FILE_ERRORS],
        handler: async (request) => {
          const { params, caller } = request
          const asked = caller?.isPlatformAdmin
            ? ({ access: 'read' } as const)
            : ({ action: 'edit_node' } as const)
          const { id } = await getOwnNodeAccess(deps, { ...params, ...asked, caller })
          return await keep(request, { side, path: `/nodes/${id}/${name}` }, (url) =>
            editNode({ ...request, body: { [member]: url } }),
          )
        },
      }),
      defineRoute({
        ...common,
        ...DELETE,
        summary: `Remove the ${name} of a pack`,
        errors: nodeErrors,
        handler: (request) => editNode({ ...request, body: { [member]: '' } }),
      }),
    ]
  }
  const ofPublisher = {
    tag: 'Publishers',
    path: `${PUBLISHER_PATH}/logo`,
    params: OfPublisher,
    responses: ok('The publisher as it is now.', WrittenPublisher, { example: PUBLISHER }),
  } as const
  const publisherErrors = [...PUBLISHER_ERRORS, ...EDIT_ERRORS] as const
  return [
    ...ofNode('icon', iconSide),
    ...ofNode('banner', bannerSide),
    defineRoute({
      ...ofPublisher,
      ...PUT,
      summary: 'Put the logo of a publisher into the store',
      description: DESCRIPTION,
      errors: [...publisherErrors, ...FILE_ERRORS],
      handler: async (request) => {
        const { params, caller } = request
        const asked = { ...params, access: 'write', action: 'edit_publisher', caller } as const
        const { id } = await getPublisherAccess(deps, asked)
        return await keep(request, { side: iconSide, path: `/publishers/${id}/logo` }, (logo) =>
          editPublisher(deps, { ...request, body: { logo } }),
        )
      },
    }),
    defineRoute({
      ...ofPublisher,
      ...DELETE,
      summary: 'Remove the logo of a publisher',
      errors: publisherErrors,
      handler: (request) => editPublisher(deps, { ...request, body: { logo: '' } }),
    }),
  ]
}

interface Sides {
  iconSide: number
  bannerSide: number
}

/**
 * Makes what stores the picture that a request brings, and then edits the record. What a process leaves that is killed
 * in between is the hourly clean-up's, as what an edit has replaced.
 */
const makeKeepPicture =
  ({ storage, publicUrl, reducePicture, ...deps }: KeptPictureDeps, semaphore: Semaphore) =>
  async (
    request: RouteRequest,
    { side, path }: { side: number; path: string },
    edit: (url: string) => Promise<JsonResponse>,
  ): Promise<JsonResponse> => {
    requireType(request.headers, isPicture, EXPECTED)
    const rules = {
      request,
      maxBytes: MAX_BYTES,
      headBytes: 0,
      emptyCode: 'body_required',
    } as const
    const bytes = await takeFile(deps, rules, async (file) => {
      const reduce = () =>
        reducePicture({ path: file.path, side, mayBeSvg: true }).catch((error: unknown) => {
          throw errors.unavailable(error)
        })
      const made = await semaphore.run(reduce)
      if (made.bytes) return made.bytes
      throw apiError(
        'image_invalid',
        `The body must be a PNG, JPEG, WebP, AVIF or SVG of at most ${MAX_PIXELS.toLocaleString('en')} pixels: ${made.error}.`,
      )
    })
    const id = randomUUID()
    const stored = storage.putStream(pictureKey(id), Readable.from([bytes]), {
      maxBytes: bytes.length,
    })
    await stored.catch((error: unknown) => {
      throw errors.unavailable(error)
    })
    return await edit(keptPictureUrl(publicUrl, path, id)).catch(async (error: unknown) => {
      // When the commit is in doubt the row may name the file.
      if (!isOutcomeUnknown(error)) await storage.remove(pictureKey(id)).catch(() => {})
      throw error
    })
  }
