import { VersionFindings } from '../../domain/registry/finding.ts'
import { listEmptyIsAbsent } from '../../domain/registry/registry-fields.ts'
import { NewReview, Review } from '../../domain/registry/review.ts'
import { SMALL_BODY } from '../body/body-limits.ts'
import type { CommitDeps } from '../deps.ts'
import { readFindings, requestReview } from './review.ts'
import { defineRoute } from '../route.ts'
import type { Route } from '../route.ts'
import {
  OWN_VERSION_PATH,
  OfOwnVersion,
  OfVersion,
  VERSION_ERRORS,
  VERSION_PATH,
  WRITE_ERRORS,
} from './paths.ts'
import { FINDINGS, REVIEW } from './examples.ts'

const COMMON = { tag: 'Versions' } as const

/** The routes by which a publisher learns why a version was flagged, and asks for a person to look. */
export const makeReviewRoutes = (deps: CommitDeps): Route[] => [
  defineRoute({
    ...COMMON,
    auth: 'optional',
    method: 'get',
    path: `${VERSION_PATH}/findings`,
    summary: 'Read what the checks of a version found',
    description:
      'Everybody sees how many there are. Members of the publisher see all of them, with reviews and moves; and so does a personal access token of it, sent as a bearer token.',
    takesTokens: true,
    params: OfVersion,
    read: 'public',
    responses: {
      200: { description: 'The findings.', schema: VersionFindings, example: FINDINGS },
    },
    errors: [...VERSION_ERRORS, 'token_scope_insufficient'],
    handler: (request) => readFindings(deps, request),
  }),
  defineRoute({
    ...COMMON,
    auth: 'required',
    method: 'post',
    path: `${OWN_VERSION_PATH}/review`,
    summary: 'Ask for a review of a flagged version',
    description:
      'For owners of the publisher. One request is open at a time; a decision closes it.',
    params: OfOwnVersion,
    body: {
      ...SMALL_BODY,
      schema: NewReview,
      emptyIsAbsent: listEmptyIsAbsent(NewReview),
      required: false,
      examples: { note: { note: 'The flagged call is in a test.' } },
    },
    responses: { 201: { description: 'The request.', schema: Review, example: REVIEW } },
    errors: [
      'publisher_not_found',
      ...VERSION_ERRORS,
      ...WRITE_ERRORS,
      'version_not_flagged',
      'review_already_requested',
    ],
    handler: (request) => requestReview(deps, request),
  }),
]
