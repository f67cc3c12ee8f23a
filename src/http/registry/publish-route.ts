import { Published, PublishBody } from '../../domain/registry/publish.ts'
import { listEmptyIsAbsent } from '../../domain/registry/registry-fields.ts'
import { validatePublish } from '../../domain/registry/version-validation.ts'
import { SMALL_BODY } from '../body/body-limits.ts'
import type { PublishDeps } from './deps.ts'
import { NEEDS_MEMBER } from './personal-access-token.ts'
import { publish } from './publish.ts'
import { defineRoute } from '../route.ts'
import type { Route } from '../route.ts'
import { OWN_NODE_PATH, OWN_VERSION_PATH, OfNewNode, VERSION_PATH, WRITE_ERRORS } from './paths.ts'
import { PUBLISH, PUBLISHED } from './examples.ts'

const BY_NUMBER = {
  nodeId: '$response.body#/node_version/node_id',
  version: '$response.body#/node_version/version',
}
const BY_ID = {
  publisherId: '$request.path.publisherId',
  nodeId: '$response.body#/node_version/node_id',
  versionId: '$response.body#/node_version/id',
}

/** The route that publishes a version; which credential it needs beside its token is a setting. */
export const makePublishRoute = (deps: PublishDeps): Route =>
  defineRoute({
    tag: 'Versions',
    // The token in the body may be that of a CI job, which suffices alone.
    auth: 'optional',
    unauthorizedMessage: NEEDS_MEMBER,
    method: 'post',
    path: `${OWN_NODE_PATH}/versions`,
    summary: 'Publish a version',
    description:
      'Creates the node, or updates it with what is not empty in `node`, and responds with the link to PUT the archive to. Checks begin once it is there. Until then, publishing the same version again returns it with a new link. Beside the personal access token it needs the bearer token or API key of a member, unless that is the token of a CI job, or PUBLISH_AUTH is `token`.',
    params: OfNewNode,
    body: {
      ...SMALL_BODY,
      schema: PublishBody,
      emptyIsAbsent: listEmptyIsAbsent(PublishBody),
      examples: { first: PUBLISH },
    },
    responses: {
      201: {
        description: 'The version, which awaits its archive.',
        schema: Published,
        example: PUBLISHED,
        links: {
          read: { method: 'get', path: VERSION_PATH, parameters: BY_NUMBER },
          findings: { method: 'get', path: `${VERSION_PATH}/findings`, parameters: BY_NUMBER },
          hostNodes: { method: 'get', path: `${VERSION_PATH}/host-nodes`, parameters: BY_NUMBER },
          edit: { method: 'put', path: OWN_VERSION_PATH, parameters: BY_ID },
          remove: { method: 'delete', path: OWN_VERSION_PATH, parameters: BY_ID },
        },
      },
    },
    errors: [
      'url_refused',
      'id_mismatch',
      'version_invalid',
      'unauthorized',
      'invalid_personal_access_token',
      'token_scope_insufficient',
      'publisher_not_found',
      'publisher_banned',
      'node_banned',
      'node_owned_by_other_publisher',
      'version_exists',
      'node_deleted',
      ...WRITE_ERRORS,
    ],
    secretResponse: true,
    validate: ({ params, body }) => validatePublish(body, { nodeId: String(params['nodeId']) }),
    handler: (request) => publish(deps, request),
  })
