import { randomUUID } from 'node:crypto'

import { insertAudit } from '../../platform/db/audit-log.ts'
import { withinDeadline } from '../../platform/db/client.ts'
import type { Transaction } from '../../platform/db/client.ts'
import {
  findPersonalAccessToken,
  touchPersonalAccessToken,
} from '../../identity/db/personal-access-token.ts'
import type { LiveToken } from '../../identity/db/personal-access-token.ts'
import { insertPublication } from '../db/publish.ts'
import type { Publication } from '../db/publish.ts'
import { unitOfWork } from '../../platform/db/unit-of-work.ts'
import type { Enqueue } from '../../platform/db/unit-of-work.ts'
import { auditTarget } from '../../platform/domain/audit-log.ts'
import { pictureWarnings } from '../domain/picture-address.ts'
import { hostVersionWarnings } from '../domain/host-version.ts'
import { PublishBody, Published, publishedFields } from '../domain/publish.ts'
import { translationWarnings } from '../domain/translations.ts'
import { parseVersionNumber } from '../domain/version-number.ts'
import { validatePublish } from '../domain/version-validation.ts'
import { credentialKind } from '../../platform/domain/credential.ts'
import { apiError, errors, shown } from '../../platform/domain/errors.ts'
import { startPublishVersion } from '../temporal/version.ts'
import { auditOf } from '../../identity/http/access/audit.ts'
import { recordUse } from '../../identity/http/access/auth.ts'
import type { Caller } from '../../platform/http/access/caller.ts'
import { digest } from '../../identity/http/access/digest.ts'
import { SMALL_BODY } from '../../platform/json-body/body-limits.ts'
import { created, defineRoute } from '../../platform/http/route.ts'
import type { Route, RouteRequest, SavedResponse } from '../../platform/http/route.ts'
import type { PublishDeps, TokenDeps } from './deps.ts'
import { PUBLISH, PUBLISHED } from './examples.ts'
import { OWN_NODE_PATH, OWN_VERSION_PATH, OfNewNode, VERSION_PATH, WRITE_ERRORS } from './paths.ts'
import type { OfOwnNode } from './paths.ts'
import {
  getPublishPlace,
  makeVersionExists,
  requirePublishing,
  type PublishPlace,
} from './publish-place.ts'

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
    // The token in the body may be a CI job's, which suffices alone.
    auth: 'optional',
    opens: 'by-body',
    unauthorizedMessage: NEEDS_MEMBER,
    method: 'post',
    path: `${OWN_NODE_PATH}/versions`,
    unread: 'ignored',
    summary: 'Publish a version',
    description:
      'Creates the pack, or updates it with what is not empty in `node`, and responds with the link to PUT the archive to. Checks begin once it is there. Until then, publishing the same version again returns it with a new link. Beside the personal access token it needs the bearer token or API key of a member, unless that is the token of a CI job, or PUBLISH_AUTH is `token`.',
    params: OfNewNode,
    body: {
      ...SMALL_BODY,
      schema: PublishBody,
      emptyIsAbsent: 'optional',
      examples: { first: PUBLISH },
    },
    responses: created('The version, which awaits its archive.', Published, {
      example: PUBLISHED,
      links: {
        read: { method: 'get', path: VERSION_PATH, parameters: BY_NUMBER },
        findings: { method: 'get', path: `${VERSION_PATH}/findings`, parameters: BY_NUMBER },
        hostNodes: { method: 'get', path: `${VERSION_PATH}/host-nodes`, parameters: BY_NUMBER },
        edit: { method: 'put', path: OWN_VERSION_PATH, parameters: BY_ID },
        remove: { method: 'delete', path: OWN_VERSION_PATH, parameters: BY_ID },
      },
    }),
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

type PublishRequest = RouteRequest<OfOwnNode, unknown, PublishBody>

/**
 * Publishes a version: makes or updates its node, and makes the version with the start of its workflow and a link to
 * upload its archive. A version that still awaits its archive is returned again with a new link.
 */
const publish = async (deps: PublishDeps, request: PublishRequest): Promise<SavedResponse> => {
  const { params, body, caller } = request
  const token = await getPublishToken(deps, request)
  const place = await getPublishPlace(deps, { ...params, caller, token })
  const publication = makePublication(deps, { ...place, token, caller, body })
  const work = async (sql: Transaction, enqueue: Enqueue): Promise<SavedResponse> => {
    const done = await insertPublication(sql, publication, { ...deps, enqueue })
    if (done.result !== 'published') throw reject(done, publication, deps.publicUrl)
    const { version, uploadExpiresAt, changed, latest, meantId } = done
    await recordPublication(sql, request, { publication, done })
    const signedUrl = deps.signer.signArchive({
      id: version.id,
      expires: Math.floor(uploadExpiresAt.getTime() / 1000),
      max: deps.archiveMaxBytes,
    })
    const warnings = [
      ...(meantId === undefined
        ? []
        : [
            `The pack ${shown(version.node_id)} is new; did you mean ${shown(meantId)}, which the publisher has? Then delete the new one and publish there.`,
          ]),
      ...pictureWarnings(
        publication.fields,
        {
          find: (address) => deps.outbound.validateUrl(address).rejected,
          publicUrl: deps.publicUrl,
        },
        '/node',
      ),
      ...(changed.length > 0
        ? [`The version was published before, with other values of ${changed.join(', ')}.`]
        : []),
      ...(latest
        ? [
            `The version ${shown(version.version)} will not be the latest one: ${shown(latest.version)} stays it, because it ${latest.because}.`,
          ]
        : []),
      ...hostVersionWarnings(body.node, '/node'),
      ...translationWarnings(body.node, '/node'),
      ...hostVersionWarnings(body.node_version, '/node_version'),
    ]
    const published = { node_version: version, signedUrl, ...(warnings.length > 0 && { warnings }) }
    const response = { status: 201, body: published }
    return await request.saveIdempotentResponse(sql, response)
  }
  return await unitOfWork(deps, work, { at: 'create' })
}

type Done = Extract<Awaited<ReturnType<typeof insertPublication>>, { result: 'published' }>

/** Writes into the audit log what a publication changes of its node, and the version. */
const recordPublication = async (
  sql: Transaction,
  request: PublishRequest,
  { publication, done }: { publication: Publication; done: Done },
): Promise<void> => {
  const { publisherId, publishedBy, tokenId, fields } = publication
  const { node_id, id, version } = done.version
  const audit = { ...auditOf(request), actor: publishedBy }
  const { isNew, ...change } = done.node
  await insertAudit(sql, audit, {
    target: auditTarget.node(node_id),
    ...(isNew
      ? { action: 'node.create', after: { ...fields, publisher: publisherId } }
      : { action: 'node.update', ...change }),
  })
  const target = auditTarget.version(node_id, version)
  await insertAudit(sql, audit, {
    action: 'version.publish',
    target,
    after: { id, token: tokenId },
  })
}

/**
 * Reads the token in a publish body. Throws the same 403 for every text that is no live token of the publisher,
 * whatever is wrong with it; and 401 where a member's credential is missing beside it, unless the token is a CI job's.
 */
const getPublishToken = async (
  deps: TokenDeps,
  { params, body, caller }: PublishRequest,
): Promise<LiveToken> => {
  const { sql, publishAuth } = deps
  const { personal_access_token: text } = body
  const { publisherId, nodeId } = params
  const asked = { sha256: digest(text), publisherId }
  const isToken = credentialKind(text) === 'personal_access_token'
  const found = isToken ? await withinDeadline(sql, findPersonalAccessToken(sql, asked)) : undefined
  if (publishAuth === 'bearer+token' && !caller && !found?.isExchanged)
    throw errors.unauthorized(undefined, NEEDS_MEMBER)
  if (!found) throw errors.invalidPersonalAccessToken()
  requirePublishing(found, nodeId)
  if (found.touchDue)
    await recordUse(deps, 'a personal access token', touchPersonalAccessToken(sql, found.id))
  return found
}

/** Message of the 401 of publishing. */
const NEEDS_MEMBER =
  'Publishing needs a bearer token or API key of a member beside the personal access token (PUBLISH_AUTH=bearer+token), or alone a live token that a CI job of a trusted publisher got.'

interface Given extends Omit<PublishPlace, 'node'> {
  token: LiveToken
  caller: Caller | undefined
  body: PublishBody
}

const makePublication = (
  deps: PublishDeps,
  { publisherId, nodeId, isMember, token, caller, body }: Given,
): Publication => {
  const number = parseVersionNumber(body.node_version.version)
  if (!number) throw apiError('version_invalid')
  const id = randomUUID()
  const { version } = number
  // Where the token suffices, it stands for whoever made it.
  const owner = isMember && caller ? caller.principal : token.createdBy
  const facts = { versionId: id, nodeId, version, publisherId, owner }
  const summary = `publish ${nodeId}@${version}`
  return {
    id,
    publisherId,
    nodeId,
    fields: publishedFields(body.node),
    version: { ...body.node_version, version },
    number,
    uploadSeconds: deps.uploadExpirySeconds,
    publishedBy: owner,
    tokenId: token.id,
    isNodeToken: token.nodeId !== null,
    start: startPublishVersion({ ...facts, summary }, deps),
  }
}

type Rejected = Exclude<Awaited<ReturnType<typeof insertPublication>>, { result: 'published' }>

const reject = (
  rejected: Rejected,
  { publisherId, nodeId, version }: Publication,
  publicUrl: string,
) => {
  switch (rejected.result) {
    case 'publisher_not_found':
      return errors.publisherNotFound(publisherId)
    case 'publisher_banned':
      return errors.publisherBanned(publisherId)
    case 'node_banned':
      return errors.nodeBanned(nodeId)
    case 'node_deleted':
      return errors.nodeDeleted(nodeId)
    case 'token_revoked':
      return errors.invalidPersonalAccessToken()
    case 'node_owned_by_other_publisher':
      return errors.nodeOwnedByOtherPublisher(nodeId)
    case 'version_exists':
      return makeVersionExists(rejected.taken, { nodeId, asked: version.version, publicUrl })
  }
}
