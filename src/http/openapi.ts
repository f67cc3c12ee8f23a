import type { TObject } from 'typebox'

import { ERROR_CODES } from '../domain/errors.ts'
import type { ErrorCodeName } from '../domain/errors.ts'
import type { ResponseSpec, Route } from './route.ts'

type Json = Record<string, unknown>

const INTRO = `Kiln takes long-running image work and never loses it. The local engine is classical image processing: **it is not generative** and invents no light source, object or face.

Every error has the shape \`{error, message, details?, request_id}\`. Every POST takes an \`Idempotency-Key\`.`

/** Makes the OpenAPI 3.1 document of the routes. It is complete: every status a route can answer is in it. */
export const makeOpenApi = (routes: readonly Route[], publicUrl: string): Json => ({
  openapi: '3.1.0',
  info: {
    title: 'Kiln',
    version: '0.1.0',
    description: INTRO,
    license: { name: 'MIT', identifier: 'MIT' },
  },
  servers: [{ url: publicUrl }],
  tags: [...new Set(routes.map((route) => route.tag))].map((name) => ({ name })),
  paths: makePaths(routes),
  components: { securitySchemes: SECURITY, schemas: { Error: ERROR_SCHEMA } },
})

const SECURITY = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'A token of the issuer, or an API key.',
  },
  apiKey: { type: 'apiKey', in: 'header', name: 'X-API-KEY' },
}

const ERROR_SCHEMA = {
  type: 'object',
  required: ['error', 'message', 'request_id'],
  properties: {
    error: { type: 'string', enum: Object.keys(ERROR_CODES) },
    message: { type: 'string', minLength: 1 },
    details: {
      type: 'array',
      items: { type: 'string' },
      description: 'One sentence for each fault.',
    },
    error_type: { type: 'string' },
    request_id: { type: 'string' },
  },
}

const makePaths = (routes: readonly Route[]): Json => {
  const paths: Record<string, Json> = {}
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [route.method]: makeOperation(route) }
  }
  return paths
}

const makeOperation = (route: Route): Json => ({
  operationId: operationId(route),
  tags: [route.tag],
  summary: route.summary,
  ...(route.description === undefined ? {} : { description: route.description }),
  security:
    route.auth === 'none'
      ? []
      : route.auth === 'jwt'
        ? [{ bearer: [] }]
        : [{ bearer: [] }, { apiKey: [] }],
  parameters: makeParameters(route),
  ...makeRequestBody(route),
  responses: { ...makeResponses(route), ...makeErrors(route) },
})

const operationId = ({ method, path }: Route): string =>
  `${method}_${path.replace(/[^A-Za-z0-9]+/g, '_').replace(/^_|_$/g, '')}`

const makeParameters = (route: Route): Json[] => [
  ...listProperties(route.params).map(([name, schema]) => ({
    name,
    in: 'path',
    required: true,
    schema,
  })),
  ...listProperties(route.query).map(([name, schema]) => ({
    name,
    in: 'query',
    required: false,
    schema,
  })),
  ...(route.method === 'post' ? [IDEMPOTENCY_KEY] : []),
]

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'Repeating a request with its key answers what the first one answered; nothing is done twice.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x21-\\x7e]+$' },
}

const listProperties = (schema: TObject | undefined): [string, unknown][] =>
  Object.entries(schema?.properties ?? {})

const makeRequestBody = ({ body, rawBody }: Route): Json => {
  if (rawBody)
    return {
      requestBody: {
        required: true,
        content: { [rawBody.mediaType]: {} },
        description: rawBody.description,
      },
    }
  if (!body) return {}
  const media = {
    schema: body.schema,
    ...(body.example === undefined ? {} : { example: body.example }),
  }
  return {
    requestBody: { required: body.required ?? true, content: { 'application/json': media } },
  }
}

const makeResponses = ({ responses }: Route): Json =>
  Object.fromEntries(
    Object.entries(responses).map(([status, spec]) => [status, makeResponse(spec)]),
  )

const makeResponse = ({ description, schema, mediaType, headers }: ResponseSpec): Json => ({
  description,
  ...(headers === undefined ? {} : { headers: makeHeaders(headers) }),
  ...(schema || mediaType
    ? { content: { [mediaType ?? 'application/json']: schema ? { schema } : {} } }
    : {}),
})

const makeHeaders = (headers: Record<string, string>): Json =>
  Object.fromEntries(
    Object.entries(headers).map(([name, description]) => [
      name,
      { description, schema: { type: 'string' } },
    ]),
  )

/** The errors of a route by status: its own, and those that its auth, method and body imply. */
const makeErrors = (route: Route): Json => {
  const byStatus = new Map<number, ErrorCodeName[]>()
  for (const code of new Set([...route.errors, ...impliedErrors(route)])) {
    const { status } = ERROR_CODES[code]
    byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  }
  return Object.fromEntries(
    [...byStatus]
      .filter(([status]) => !(status in route.responses))
      .map(([status, codes]) => [
        status,
        {
          description: codes
            .map((code) => `\`${code}\`: ${ERROR_CODES[code].meaning}`)
            .join('\n\n'),
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
        },
      ]),
  )
}

/** Codes that follow from what a route is. */
export const impliedErrors = (route: Route): ErrorCodeName[] => [
  'bad_request',
  'path_invalid',
  'headers_too_large',
  'request_timeout',
  'internal_error',
  'unavailable',
  'draining',
  ...(route.query ? (['validation_failed'] as const) : []),
  ...(route.auth === 'none' ? [] : (['unauthorized', 'auth_unavailable'] as const)),
  ...(route.auth === 'jwt' ? (['forbidden'] as const) : []),
  ...(route.body ? BODY_ERRORS : []),
  ...(route.rawBody ? (['body_too_large', 'busy'] as const) : []),
  ...(route.method === 'post' ? POST_ERRORS : []),
]

const BODY_ERRORS = [
  'json_invalid',
  'json_too_deep',
  'body_required',
  'validation_failed',
  'body_too_large',
  'unsupported_media_type',
  'unsupported_encoding',
  'busy',
] as const

const POST_ERRORS = [
  'idempotency_key_invalid',
  'idempotency_in_flight',
  'idempotency_mismatch',
] as const
