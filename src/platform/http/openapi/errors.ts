import { ERROR_CODES, videoStatusOf, type ErrorCodeName } from '../../domain/errors.ts'
import { hasBounds } from '../../domain/time-bounds.ts'
import { quotaOf } from '../access/limiter.ts'
import { bodyOf } from '../body/read-body.ts'
import { changes, type Route } from '../route.ts'
import type { ErrorForm } from '../serve/errors.ts'
import { headerRefs, quotaHeaders, type HeaderName } from './headers.ts'

type Json = Record<string, unknown>

const REQUEST_ID = '3f0c2a7e-6a3e-4d43-9c1b-2b8f0d3c5a11'

/** The one shape of all errors. */
export const ERROR_SCHEMA = {
  type: 'object',
  required: ['error', 'message', 'request_id'],
  properties: {
    error: { type: 'string', enum: Object.keys(ERROR_CODES) },
    message: { type: 'string', minLength: 1 },
    details: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      description:
        'One sentence for each issue: field, expectation, value. On video routes always there, and a reason word first.',
    },
    error_type: {
      type: 'string',
      description: 'The code once more, on responses about an Idempotency-Key.',
    },
    request_id: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,128}$' },
  },
}

const statusOf = (route: Route, code: ErrorCodeName, form: ErrorForm): number =>
  form.isOn(route.path) || route.ofVideoToo ? videoStatusOf(code) : ERROR_CODES[code].status

/** The name in the components of the document. */
const exampleName = (route: Route, code: ErrorCodeName, form: ErrorForm): string =>
  form.isOn(route.path) ? `${form.name}_${code}` : code

const exampleOf = (route: Route, code: ErrorCodeName, form: ErrorForm): Json => {
  const message = ERROR_CODES[code].meaning
  return {
    value: {
      error: code,
      message,
      ...(['idempotency_in_flight', 'idempotency_mismatch'].includes(code) && { error_type: code }),
      ...(form.isOn(route.path) && {
        details: form.detailsOf({ code, status: statusOf(route, code, form), message }),
      }),
      request_id: REQUEST_ID,
    },
  }
}

/** Makes an example of each error that a route can return. */
export const makeErrorExamples = (routes: readonly Route[], form: ErrorForm): Json =>
  Object.fromEntries(
    routes.flatMap((route) =>
      errorsOf(route).map((code) => [exampleName(route, code, form), exampleOf(route, code, form)]),
    ),
  )

const errorsOf = (route: Route): ErrorCodeName[] => [
  ...new Set([...route.errors, ...impliedErrors(route)]),
]

/** Makes the errors of a route by status: its own, and the errors that its auth, method and body imply. */
export const makeErrorResponses = (route: Route, form: ErrorForm): Json => {
  const byStatus = new Map<number, ErrorCodeName[]>()
  for (const code of errorsOf(route)) {
    const status = statusOf(route, code, form)
    byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  }
  return Object.fromEntries(
    [...byStatus]
      .filter(([status]) => !(status in route.responses))
      .map(([status, codes]) => [status, makeErrorResponse(route, { status, codes, form })]),
  )
}

const makeErrorResponse = (
  route: Route,
  { status, codes, form }: { status: number; codes: ErrorCodeName[]; form: ErrorForm },
): Json => ({
  description: codes.map((code) => `\`${code}\`: ${ERROR_CODES[code].meaning}`).join('\n\n'),
  headers: headerRefs([
    'X-Request-Id',
    'Ignored-Fields',
    ...quotaHeaders(route),
    ...(HEADERS_BY_STATUS[status] ?? []),
  ]),
  content: {
    'application/json': {
      schema: {
        $ref: '#/components/schemas/Error',
        ...(form.isOn(route.path) && { required: ['details'] }),
        properties: {
          error: { enum: codes },
          ...(form.isOn(route.path) && { details: form.details }),
        },
      },
      examples: Object.fromEntries(
        codes.map((code) => [
          code,
          { $ref: `#/components/examples/${exampleName(route, code, form)}` },
        ]),
      ),
    },
  },
})

const HEADERS_BY_STATUS: Partial<Record<number, HeaderName[]>> = {
  401: ['WWW-Authenticate'],
  409: ['Retry-After'],
  416: ['Content-Range'],
  429: ['Retry-After'],
  503: ['Retry-After'],
  504: ['Retry-After'],
}

/** Codes that follow from what a route is. */
const impliedErrors = (route: Route): ErrorCodeName[] => [
  ...EVERYWHERE,
  ...(route.evenWhileClosing ? [] : (['unavailable', 'draining', 'busy'] as const)),
  ...(route.query || changes(route) || route.unread !== 'ignored'
    ? (['validation_failed'] as const)
    : []),
  ...AUTH_ERRORS[route.auth],
  ...(quotaOf(route) === undefined ? [] : (['rate_limited'] as const)),
  ...(bodyOf(route) ? BODY_ERRORS : []),
  ...([route.query, route.body?.schema].some(hasBounds) ? (['incompatible_fields'] as const) : []),
  ...(route.rawBody ? (['body_too_large'] as const) : []),
  ...(route.method === 'post' && !route.keepsNothing ? POST_ERRORS : []),
]

const OF_CREDENTIALS = ['unauthorized', 'auth_unavailable', 'task_token_insufficient'] as const
const AUTH_ERRORS: Record<Route['auth'], readonly ErrorCodeName[]> = {
  none: [],
  optional: [...OF_CREDENTIALS, 'key_scope_insufficient'],
  required: [...OF_CREDENTIALS, 'key_scope_insufficient'],
  jwt: [...OF_CREDENTIALS, 'forbidden'],
}

const EVERYWHERE = [
  'bad_request',
  'path_invalid',
  'headers_too_large',
  'request_timeout',
  'internal_error',
] as const

const BODY_ERRORS = [
  'json_invalid',
  'json_too_deep',
  'body_required',
  'validation_failed',
  'body_too_large',
  'unsupported_media_type',
  'unsupported_encoding',
] as const

const POST_ERRORS = [
  'idempotency_key_invalid',
  'idempotency_in_flight',
  'idempotency_mismatch',
] as const
