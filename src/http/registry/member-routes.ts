import { PublisherMember, MemberList, MemberUpdate } from '../../domain/registry/member.ts'
import { SMALL_BODY } from '../body/body-limits.ts'
import type { CommitDeps } from '../deps.ts'
import { endMembership, listPublisherMembers, setMember } from './member.ts'
import { defineRoute } from '../route.ts'
import type { Route } from '../route.ts'
import { OfMember, OfPublisher, PUBLISHER_ERRORS, PUBLISHER_PATH, WRITE_ERRORS } from './paths.ts'
import { MEMBER } from './examples.ts'

const COMMON = { tag: 'Publishers', auth: 'required' } as const
const MEMBER_PATH = `${PUBLISHER_PATH}/members/:userId`

/** The routes of who belongs to a publisher. */
export const makeMemberRoutes = (deps: CommitDeps): Route[] => [
  defineRoute({
    ...COMMON,
    method: 'get',
    path: `${PUBLISHER_PATH}/members`,
    summary: 'List the members of a publisher',
    description: 'For its members.',
    params: OfPublisher,
    read: 'private',
    responses: {
      200: {
        description: 'The members, in the order they joined.',
        schema: MemberList,
        example: [MEMBER],
      },
    },
    errors: [...PUBLISHER_ERRORS, 'forbidden'],
    handler: (request) => listPublisherMembers(deps, request),
  }),
  defineRoute({
    ...COMMON,
    method: 'put',
    path: MEMBER_PATH,
    summary: 'Add a member, or change their role',
    description: 'For owners. Whoever is added must have signed in once.',
    params: OfMember,
    body: { ...SMALL_BODY, schema: MemberUpdate, examples: { admin: { role: 'admin' } } },
    responses: { 200: { description: 'The member.', schema: PublisherMember, example: MEMBER } },
    errors: [...PUBLISHER_ERRORS, ...WRITE_ERRORS, 'user_not_found', 'last_owner'],
    handler: (request) => setMember(deps, request),
  }),
  defineRoute({
    ...COMMON,
    method: 'delete',
    path: MEMBER_PATH,
    summary: 'Remove a member',
    description:
      'For owners, and for everybody who leaves. The tokens that the member created are revoked.',
    params: OfMember,
    responses: { 204: { description: 'The user is no member any more.' } },
    errors: [...PUBLISHER_ERRORS, ...WRITE_ERRORS, 'member_not_found', 'last_owner'],
    handler: (request) => endMembership(deps, request),
  }),
]
