import { Type } from 'typebox'

import type { UnitDeps } from '../../platform/db/unit-of-work.ts'
import type { AdmissionRules } from '../db/admission.ts'
import {
  NewOwnerLimits,
  OwnerLimits,
  OwnerLimitsList,
  validateOwner,
} from '../domain/owner-limit.ts'
import { SMALL_BODY } from '../../platform/json-body/body-limits.ts'
import { defineRoute, ok, type Route } from '../../platform/http/route.ts'
import { readOwner, readOwners, resetOwnerLimits, setOwnerLimits } from './owner-limits.ts'

const COMMON = { tag: 'Operations', auth: 'required' } as const
const ONE = {
  ...COMMON,
  path: '/admin/owners/:owner',
  params: Type.Object({ owner: Type.String({ description: 'Id of the owner.' }) }),
} as const

/** Routes for the limits of single owners, for platform admins. Each change is in the audit log. */
export const makeOwnerLimitRoutes = (deps: UnitDeps & AdmissionRules): Route[] => [
  defineRoute({
    ...COMMON,
    method: 'get',
    path: '/admin/owners',
    summary: 'List owners with limits of their own',
    read: 'private',
    responses: ok('The owners.', OwnerLimitsList),
    errors: ['forbidden'],
    handler: (request) => readOwners(deps, request),
  }),
  defineRoute({
    ...ONE,
    method: 'get',
    summary: 'Read the limits and the use of an owner',
    read: 'private',
    responses: ok('The owner.', OwnerLimits),
    errors: ['forbidden', 'owner_not_found'],
    handler: (request) => readOwner(deps, request),
  }),
  defineRoute({
    ...ONE,
    method: 'put',
    summary: 'Set the limits of an owner',
    description:
      'All of them: of what is absent the setting holds. AdmissionRules, credits, tasks and bytes are exact from the response on; rate and engine are read every few seconds. What is over a lower limit stays.',
    body: {
      ...SMALL_BODY,
      schema: NewOwnerLimits,
      emptyIsAbsent: 'optional',
      sentBack: Object.keys(OwnerLimits.properties),
      examples: { larger: { slots: 20, credit_limit: 100_000, note: 'contract of May' } },
    },
    responses: ok('The owner.', OwnerLimits),
    errors: ['forbidden', 'outcome_unknown'],
    validate: ({ params }) => validateOwner(params['owner']),
    handler: (request) => setOwnerLimits(deps, request),
  }),
  defineRoute({
    ...ONE,
    method: 'delete',
    summary: 'Take the limits of an owner away',
    responses: { 204: { description: 'Those of the settings hold.' } },
    errors: ['forbidden', 'owner_not_found', 'outcome_unknown'],
    handler: (request) => resetOwnerLimits(deps, request),
  }),
]
