import { Type } from 'typebox'

import {
  NewPause,
  Pause,
  PauseEffect,
  PauseList,
  PauseScope,
  validateScope,
} from '../domain/pause.ts'
import { validateExpiry } from '../../platform/domain/expiry.ts'
import { SMALL_BODY } from '../../platform/json-body/body-limits.ts'
import { defineRoute, ok, type Route } from '../../platform/http/route.ts'
import { readPauseEffect, readPauses, resume, setPause, type PauseDeps } from './pauses.ts'

const COMMON = { tag: 'Operations', auth: 'required' } as const
const OF_SCOPE = {
  ...COMMON,
  path: '/admin/pauses/:scope',
  params: Type.Object({ scope: PauseScope }),
}

/** Routes by which platform admins pause and resume what begins. Each change is in the audit log. */
export const makePauseRoutes = (deps: PauseDeps): Route[] => [
  defineRoute({
    ...COMMON,
    method: 'get',
    path: '/admin/pauses',
    summary: 'List what is paused',
    description: 'Also the engines that are paused by themselves because they fail.',
    read: 'private',
    responses: ok('As it is now.', PauseList),
    errors: ['forbidden'],
    handler: (request) => readPauses(deps, request),
  }),
  defineRoute({
    ...OF_SCOPE,
    method: 'get',
    summary: 'Count what a pause holds',
    description: 'Also before the scope is paused: what such a pause would hold now.',
    read: 'private',
    responses: ok('As it is now.', PauseEffect),
    errors: ['forbidden', 'validation_failed'],
    handler: (request) => readPauseEffect(deps, request),
  }),
  defineRoute({
    ...OF_SCOPE,
    method: 'put',
    summary: 'Pause what begins',
    description:
      'Nothing of the scope begins any more once the response is there; what runs ends. Tasks are taken and wait, and their deadlines stand still, except those that their callers have set and the two days of off-peak tasks. Events for a paused host wait, which is no attempt. A second request replaces reason and end.',
    body: {
      ...SMALL_BODY,
      schema: NewPause,
      emptyIsAbsent: 'optional',
      sentBack: Object.keys(Pause.properties),
      required: false,
      examples: { maintenance: { reason: 'new drivers', until: '2026-12-31T12:00:00Z' } },
    },
    responses: ok('The pause.', Pause),
    errors: ['forbidden', 'outcome_unknown'],
    validate: ({ params, body }) => [
      ...validateScope(params['scope']),
      ...validateExpiry(body, 'until'),
    ],
    handler: (request) => setPause(deps, request),
  }),
  defineRoute({
    ...OF_SCOPE,
    method: 'delete',
    summary: 'Resume what is paused',
    description: 'Ends a pause; of an engine that fails it closes the breaker.',
    responses: { 204: { description: 'It goes on.' } },
    errors: ['forbidden', 'pause_not_found', 'outcome_unknown'],
    handler: (request) => resume(deps, request),
  }),
]
