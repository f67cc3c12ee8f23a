import { PUBLISHER_EVENTS } from '../../events/domain/endpoint.ts'
import { mayDo } from '../domain/role.ts'
import type { ReadDeps } from '../../platform/http/deps.ts'
import type { EndpointScope } from '../../events/http/endpoint-routes.ts'
import { getPublisherAccess } from './access.ts'
import { OfPublisher, PUBLISHER_ERRORS, PUBLISHER_PATH } from './paths.ts'

/** The endpoints of a publisher, which its members read and its admins manage. */
export const makePublisherScope = (deps: ReadDeps): EndpointScope => ({
  kind: 'Publisher',
  path: `${PUBLISHER_PATH}/endpoints`,
  params: OfPublisher.properties,
  types: PUBLISHER_EVENTS,
  errors: [...PUBLISHER_ERRORS, 'forbidden'],
  async validate({ params, caller }, what) {
    const { publisherId } = params as OfPublisher
    const access = what === 'read' ? 'read' : 'write'
    const asked = { publisherId, access, action: `${what}_endpoints`, caller } as const
    const { id, role } = await getPublisherAccess(deps, asked)
    const mayManage = mayDo(role ?? undefined, 'manage_endpoints')
    return { holder: { owner: null, publisherId: id }, mayManage }
  },
})
