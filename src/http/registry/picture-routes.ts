import { findLogo, findNodePictures } from '../../db/registry/picture.ts'
import { withinDeadline } from '../../db/client.ts'
import { FILE_RESPONSES } from '../platform/file-routes.ts'
import { defineRoute } from '../route.ts'
import type { Route } from '../route.ts'
import { getNodeAccess, getPublisherAccess } from './access.ts'
import { NODE_ERRORS, OfNode, OfPublisher, PUBLISHER_ERRORS, PUBLISHER_PATH } from './paths.ts'
import { makeReadPicture, sendPicture } from './picture.ts'
import type { PictureDeps } from './picture.ts'

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
