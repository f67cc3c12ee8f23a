import { validatePublisher, validatePublisherIdQuery } from '../domain/publisher-validation.ts'
import {
  NewPublisher,
  OwnPublisherListQuery,
  PublisherIdAvailable,
  PublisherIdQuery,
  PublisherList,
  PublisherListQuery,
  PublisherUpdate,
  ReadPublisher,
  WrittenPublisher,
} from '../domain/publisher.ts'
import { SMALL_BODY } from '../../platform/json-body/body-limits.ts'
import type { ReadDeps } from '../../platform/http/deps.ts'
import type { PublisherDeps, RecordDeps } from './deps.ts'
import {
  createPublisher,
  editPublisher,
  listAllPublishers,
  listOwnPublishers,
  readPublisher,
  validatePublisherId,
} from './publisher.ts'
import { created, defineRoute, ok } from '../../platform/http/route.ts'
import type { Route } from '../../platform/http/route.ts'
import { OfPublisher, PUBLISHER_ERRORS, PUBLISHER_PATH, WRITE_ERRORS, queryOf } from './paths.ts'
import { PUBLISHER } from './examples.ts'

const COMMON = { tag: 'Publishers', unread: 'ignored' } as const

export const makePublisherRoutes = (deps: PublisherDeps): Route[] => [
  create(deps),
  validate(deps),
  read(deps),
  edit(deps),
  list(deps),
  listOwn(deps),
]

const create = (deps: PublisherDeps): Route =>
  defineRoute({
    ...COMMON,
    auth: 'required',
    method: 'post',
    path: '/publishers',
    summary: 'Create a publisher',
    description: 'The caller becomes its owner. One user may create only so many.',
    body: {
      ...SMALL_BODY,
      schema: NewPublisher,
      emptyIsAbsent: 'optional',
      examples: {
        short: { id: 'acme' },
        full: { id: 'acme', name: 'Acme', website: 'https://acme.example.com' },
      },
    },
    responses: created('The publisher.', WrittenPublisher, {
      example: PUBLISHER,
      links: {
        read: { method: 'get', path: PUBLISHER_PATH, parameters: NEW_ID },
        edit: { method: 'put', path: PUBLISHER_PATH, parameters: NEW_ID },
        members: { method: 'get', path: `${PUBLISHER_PATH}/members`, parameters: NEW_ID },
        makeToken: { method: 'post', path: `${PUBLISHER_PATH}/tokens`, parameters: NEW_ID },
        createNode: { method: 'post', path: `${PUBLISHER_PATH}/nodes`, parameters: NEW_ID },
      },
    }),
    errors: ['url_refused', 'publisher_limit_reached', 'publisher_exists', 'outcome_unknown'],
    validate: ({ body }) => validatePublisher(body),
    handler: (request) => createPublisher(deps, request),
  })

const NEW_ID = { publisherId: '$response.body#/id' }

const validate = (deps: ReadDeps): Route =>
  defineRoute({
    ...COMMON,
    auth: 'none',
    method: 'get',
    path: '/publishers/validate',
    summary: 'Ask whether a publisher id is free',
    ...queryOf(PublisherIdQuery),
    read: 'public',
    responses: ok('It is free.', PublisherIdAvailable, { example: { isAvailable: true } }),
    errors: ['publisher_id_unavailable'],
    validateQuery: ({ query }) => validatePublisherIdQuery(query),
    handler: (request) => validatePublisherId(deps, request),
  })

const read = (deps: RecordDeps): Route =>
  defineRoute({
    ...COMMON,
    auth: 'optional',
    method: 'get',
    path: PUBLISHER_PATH,
    summary: 'Read a publisher',
    description:
      'Only its members see e-mail addresses. Platform admins see which banned publishers its members belong to.',
    params: OfPublisher,
    read: 'public',
    responses: ok('The publisher.', ReadPublisher, { example: PUBLISHER }),
    errors: PUBLISHER_ERRORS,
    handler: (request) => readPublisher(deps, request),
  })

const edit = (deps: PublisherDeps): Route =>
  defineRoute({
    ...COMMON,
    auth: 'required',
    method: 'put',
    path: PUBLISHER_PATH,
    summary: 'Edit a publisher',
    description: 'For its admins. An absent member keeps its value, an empty text clears it.',
    params: OfPublisher,
    requestHeaders: ['If-Match'],
    body: {
      ...SMALL_BODY,
      schema: PublisherUpdate,
      emptyIsAbsent: 'optional',
      examples: { website: { website: 'https://acme.example.com', description: '' } },
    },
    responses: ok('The publisher as it is now.', WrittenPublisher, { example: PUBLISHER }),
    errors: ['url_refused', ...PUBLISHER_ERRORS, ...WRITE_ERRORS, 'precondition_failed'],
    validate: ({ body }) => validatePublisher(body),
    handler: (request) => editPublisher(deps, request),
  })

const LIST = {
  200: {
    description: 'A page of publishers, by id.',
    schema: PublisherList,
    headers: ['X-Total-Count'],
    example: [PUBLISHER],
  },
} as const

const list = (deps: RecordDeps): Route =>
  defineRoute({
    ...COMMON,
    auth: 'optional',
    method: 'get',
    path: '/publishers',
    summary: 'List all publishers',
    description: 'All active publishers, whoever asks, unless a platform admin asks for a status.',
    ...queryOf(PublisherListQuery),
    read: 'public',
    responses: LIST,
    errors: [],
    handler: (request) => listAllPublishers(deps, request),
  })

const listOwn = (deps: RecordDeps): Route =>
  defineRoute({
    ...COMMON,
    auth: 'optional',
    opens: 'to-callers',
    method: 'get',
    path: '/users/publishers/',
    summary: "List the caller's publishers, or all",
    description:
      'With a credential, the publishers that the caller belongs to, banned ones too. Without one, all active publishers.',
    ...queryOf(OwnPublisherListQuery),
    read: 'public',
    responses: LIST,
    errors: [],
    handler: (request) => listOwnPublishers(deps, request),
  })
