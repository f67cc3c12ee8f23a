import { validateDepth } from '../domain/search-depth.ts'
import { CompareQuery, VersionComparison } from '../domain/comparison/change.ts'
import {
  validateCompareQuery,
  validateInstallQuery,
  validateReviewSort,
} from '../domain/version-validation.ts'
import {
  BulkVersions,
  BulkVersionsBody,
  NodeVersionsQuery,
  VersionListQuery,
  VersionPage,
} from '../domain/version-query.ts'
import {
  InstallQuery,
  OwnVersionUpdate,
  Version,
  VersionList,
  VersionUpdate,
} from '../domain/version.ts'
import { SMALL_BODY } from '../../platform/json-body/body-limits.ts'
import { compareVersions } from './compare.ts'
import type { CommitDeps } from '../../platform/http/deps.ts'
import type { ListDeps, RegistryDeps, VersionDeps } from './deps.ts'
import {
  editVersion,
  installVersion,
  listAllVersions,
  listVersionsOfNode,
  readVersion,
  readVersionsInBulk,
  removeVersion,
} from './version.ts'
import { defineRoute, ok } from '../../platform/http/route.ts'
import type { Route } from '../../platform/http/route.ts'
import {
  NODE_ERRORS,
  OWN_VERSION_PATH,
  OfNode,
  OfOwnVersion,
  OfVersion,
  VERSION_ERRORS,
  VERSION_PATH,
  WRITE_ERRORS,
  queryOf,
} from './paths.ts'
import { VERSION } from './examples.ts'

const COMMON = { tag: 'Versions', unread: 'ignored' } as const
const OWN_ERRORS = ['publisher_not_found', ...VERSION_ERRORS, ...WRITE_ERRORS] as const

/** The routes of versions: published and edited by their publisher, read and installed by everybody. */
export const makeVersionRoutes = (deps: VersionDeps): Route[] => [
  edit(deps),
  remove(deps),
  listOfNode(deps),
  read(deps),
  install(deps),
  list(deps),
  compare(deps),
  bulk(deps),
]

const edit = (deps: RegistryDeps): Route =>
  defineRoute({
    ...COMMON,
    auth: 'required',
    method: 'put',
    path: OWN_VERSION_PATH,
    summary: 'Edit a version',
    description:
      'For members of the publisher. An absent member keeps its value. Tags and dependencies change until the first install; once the archive is there, dependencies can be taken away and not added, because they are checked with it.',
    params: OfOwnVersion,
    requestHeaders: ['If-Match'],
    body: {
      ...SMALL_BODY,
      schema: OwnVersionUpdate,
      document: VersionUpdate,
      adminMembers: ['status'],
      emptyIsAbsent: 'optional',
      examples: { deprecate: { deprecated: true, changelog: 'Use 1.3.0.' } },
    },
    responses: ok('The version as it is now.', Version, { example: VERSION }),
    errors: [...OWN_ERRORS, 'precondition_failed', 'illegal_move'],
    handler: (request) => editVersion(deps, request),
  })

const remove = (deps: CommitDeps): Route =>
  defineRoute({
    ...COMMON,
    auth: 'required',
    method: 'delete',
    path: OWN_VERSION_PATH,
    summary: 'Delete a version',
    description:
      'For owners of the publisher. Its number is never free again, unless no archive of it was ever accepted.',
    params: OfOwnVersion,
    responses: { 204: { description: 'The version is deleted.' } },
    errors: [...OWN_ERRORS, 'illegal_move'],
    handler: (request) => removeVersion(deps, request),
  })

const listOfNode = (deps: ListDeps): Route =>
  defineRoute({
    ...COMMON,
    auth: 'optional',
    method: 'get',
    path: '/nodes/:nodeId/versions',
    summary: 'List the versions of a pack, newest first',
    params: OfNode,
    ...queryOf(NodeVersionsQuery),
    read: 'public',
    responses: ok('The versions.', VersionList, { example: [VERSION] }),
    errors: [...NODE_ERRORS, 'busy'],
    handler: (request) => listVersionsOfNode(deps, request),
  })

const read = (deps: VersionDeps): Route =>
  defineRoute({
    ...COMMON,
    auth: 'optional',
    method: 'get',
    path: VERSION_PATH,
    summary: 'Read a version',
    description: 'In any status but Deleted.',
    params: OfVersion,
    read: 'public',
    requestHeaders: ['Prefer'],
    responses: ok('The version.', Version, {
      headers: ['Retry-After', 'Preference-Applied'],
      example: VERSION,
    }),
    errors: VERSION_ERRORS,
    handler: (request) => readVersion(deps, request),
  })

const install = (deps: VersionDeps): Route =>
  defineRoute({
    ...COMMON,
    auth: 'none',
    method: 'get',
    path: '/nodes/:nodeId/install',
    summary: 'Find the version to install',
    description: 'The latest of the channel unless one is named. Counts one download.',
    params: OfNode,
    ...queryOf(InstallQuery),
    read: 'public',
    responses: ok(
      'The version, with its downloadUrl, signed where archives need a credential.',
      Version,
      { example: VERSION },
    ),
    errors: [...VERSION_ERRORS, 'version_invalid', 'version_not_installable', 'version_blocked'],
    validateQuery: ({ query }) => validateInstallQuery(query),
    handler: (request) => installVersion(deps, request),
  })

const list = (deps: ListDeps): Route =>
  defineRoute({
    ...COMMON,
    auth: 'optional',
    method: 'get',
    path: '/versions',
    summary: 'List the versions of all packs, newest first',
    ...queryOf(VersionListQuery),
    read: 'public',
    responses: ok('A page of versions.', VersionPage, {
      example: { versions: [VERSION], page: 1, pageSize: 10, total: 1, totalPages: 1 },
    }),
    errors: ['busy'],
    validateQuery: ({ query, caller }) => [
      ...validateDepth(query, { size: 'pageSize', reach: deps.searchMaxDepth }),
      ...(caller?.isPlatformAdmin ? validateReviewSort(query) : []),
    ],
    handler: (request) => listAllVersions(deps, request),
  })

const compare = (deps: ListDeps): Route =>
  defineRoute({
    tag: 'Versions',
    auth: 'optional',
    method: 'get',
    path: '/nodes/:nodeId/compare',
    summary: 'Compare the host nodes of two versions',
    description:
      'Says what becomes of workflows that were saved with the one when they meet the other.',
    params: OfNode,
    query: CompareQuery,
    read: 'public',
    responses: ok('The changes.', VersionComparison),
    errors: [...VERSION_ERRORS, 'version_invalid', 'busy'],
    validateQuery: ({ query }) => validateCompareQuery(query),
    handler: (request) => compareVersions(deps, request),
  })

const bulk = (deps: ListDeps): Route =>
  defineRoute({
    ...COMMON,
    auth: 'none',
    method: 'post',
    path: '/bulk/nodes/versions',
    readsOnly: true,
    summary: 'Read up to 500 versions at once',
    description:
      'A response holds a few megabytes. Versions that it has no room for have the status `error`; request them again.',
    body: {
      ...SMALL_BODY,
      schema: BulkVersionsBody,
      examples: { one: { node_versions: [{ node_id: 'image-tools', version: '1.2.0' }] } },
    },
    responses: ok(
      'One entry for each different identifier, in the order of the request.',
      BulkVersions,
      {
        example: {
          node_versions: [
            {
              identifier: { node_id: 'image-tools', version: '1.2.0' },
              status: 'success',
              node_version: VERSION,
            },
            {
              identifier: { node_id: 'image-tools', version: '9.0.0' },
              status: 'not_found',
              error_message: 'The pack "image-tools" has no version "9.0.0".',
            },
          ],
        },
      },
    ),
    errors: ['outcome_unknown'],
    handler: (request) => readVersionsInBulk(deps, request),
  })
