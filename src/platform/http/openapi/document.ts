import { ERROR_SCHEMA, makeErrorExamples, makeErrorResponses } from './errors.ts'
import { HEADERS, headerRefs, quotaHeaders, type HeaderName } from './headers.ts'
import { makeParameters } from './parameters.ts'
import { makeSchemas, type SchemaNames, type Schemas } from './schemas.ts'
import type { Method, ResponseSpec, Route } from '../route.ts'
import type { ErrorForm } from '../serve/errors.ts'
import { addMembers } from '../../domain/schema-fields.ts'
import { VERSION } from '../../domain/release.ts'

type Json = Record<string, unknown>

const INTRO = `Kiln takes long-running image and video work and never loses it. The local engines are classical image processing and drawing: **they are not generative** and invent no light source, object, face or scene.

Every error has the shape \`{error, message, details?, request_id}\`; on video routes \`details\` is always there and begins with a reason word. Every POST takes an \`Idempotency-Key\`. In a body \`null\` counts as absent, no text or name may hold NUL, and no member may be called \`__proto__\`.`

/** Descriptions of the groups of routes. */
const TAGS: Record<string, string> = {
  'Image tasks': 'Create, read, list and cancel image tasks. Not generative: classical processing.',
  'Video tasks':
    'Create, read, list and cancel video tasks. Not generative: drawn scenes and camera moves over a still.',
  Tasks: 'Tasks of every kind in one list, and one with all of its life.',
  Templates: 'Kinds of tasks that an operator has added, each by a template or an engine.',
  Engines: 'What engines that speak the HTTP API of cog say of their work.',
  Events:
    'Events that webhooks are sent, in the form of Standard Webhooks: log, redelivery, and the secrets that sign.',
  Endpoints:
    'Addresses at which a publisher, or an owner of tasks, is sent what happens: address, events, log, redelivery.',
  Batches: 'Many requests in one, made one after another.',
  'Bulk operations': 'One action on all tasks that a filter finds.',
  'Live progress': 'A task or a version, followed until its end as server-sent events.',
  Uploads: 'Upload a file first, then name it by its link.',
  Files: 'Results and inputs, read through signed links.',
  'API keys': "A user's own keys.",
  Users: 'Who the caller is.',
  Publishers:
    'Those who publish packs: the publisher, its members, and the tokens it publishes with.',
  'Trusted publishing':
    'Which CI jobs may publish a pack without a stored secret, and the tokens that they get for it.',
  Packs: 'Extensions of the host application: made, edited and found.',
  Versions: 'Releases of a pack: published, read, installed, reviewed.',
  Workflows:
    'Saved workflows of the host application: the packs they need, and what updates do to them.',
  'Host nodes': 'The node classes that a version brings into the host application.',
  'Registry admin': 'What only platform admins may do; each change is in the audit log.',
  Operations: 'What stands still, and how to set it going again; for platform admins.',
  Health: 'For those who run the service.',
  Development: 'Tokens of the embedded stack; production does not have these routes.',
  Documentation: 'The description of the service.',
}

export interface DocumentOptions {
  publicUrl: string
  names: SchemaNames
  errorForm: ErrorForm
}

/** Makes the OpenAPI 3.1 document of the routes. It is complete: every status a route can return is in it. */
export const makeOpenApi = (
  routes: readonly Route[],
  { publicUrl, names, errorForm }: DocumentOptions,
): Json => {
  const schemas = makeSchemas(names)
  const paths = makePaths(routes, schemas, errorForm)
  return {
    openapi: '3.1.0',
    info: {
      title: 'Kiln',
      version: VERSION,
      description: INTRO,
      contact: { name: 'The maintainers of Kiln' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: publicUrl }],
    tags: [...new Set(routes.map((route) => route.tag))].map((name) => ({
      name,
      description: TAGS[name] ?? name,
    })),
    paths,
    components: {
      securitySchemes: SECURITY,
      headers: HEADERS,
      schemas: { Error: ERROR_SCHEMA, ...schemas.components },
      examples: makeErrorExamples(routes, errorForm),
    },
  }
}

const SECURITY = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description:
      'A token of the issuer, an API key, or on routes that say so a token for one task.',
  },
  apiKey: { type: 'apiKey', in: 'header', name: 'X-API-KEY' },
}

const makePaths = (routes: readonly Route[], schemas: Schemas, form: ErrorForm): Json => {
  const paths: Record<string, Json> = {}
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [route.method]: makeOperation(route, schemas, form) }
  }
  return paths
}

const makeOperation = (route: Route, schemas: Schemas, form: ErrorForm): Json => ({
  operationId: operationId(route),
  tags: [route.tag],
  summary: route.summary,
  description: route.description ?? `${route.summary}.`,
  security: SECURITY_BY_AUTH[route.auth],
  parameters: makeParameters(route, schemas),
  ...makeRequestBody(route, schemas),
  responses: { ...makeResponses(route, schemas), ...makeErrorResponses(route, form) },
})

const SECURITY_BY_AUTH: Record<Route['auth'], Json[]> = {
  none: [],
  jwt: [{ bearer: [] }],
  optional: [{}, { bearer: [] }, { apiKey: [] }],
  required: [{ bearer: [] }, { apiKey: [] }],
}

const operationId = ({
  method,
  path,
  operationId: given,
}: Pick<Route, 'method' | 'path' | 'operationId'>): string =>
  given ?? `${method}_${path.replace(/[^A-Za-z0-9]+/g, '_').replace(/^_|_$/g, '')}`

const makeRequestBody = (route: Route, schemas: Schemas): Json => {
  const { body, rawBody } = route
  if (rawBody)
    return {
      requestBody: {
        required: true,
        content: { [rawBody.mediaType]: { schema: { ...BYTES, minLength: 1 } } },
        description: rawBody.description,
      },
    }
  if (!body) return {}
  const schema = addMembers(body.document ?? body.schema, body.findMembers?.())
  const media = {
    schema: showNames(route, schemas.show(schema, 'body')),
    ...makeExamples(body),
  }
  return {
    requestBody: { required: body.required ?? true, content: { 'application/json': media } },
  }
}

/** Adds the names that a body may have at each depth, where others are rejected. */
const showNames = ({ unread, body }: Route, shown: Json): Json => {
  if (unread === 'ignored') return shown
  const { properties = {} }: { properties?: object } = body?.schema ?? {}
  return close({ ...shown, ...namesOf([...Object.keys(properties), ...(body?.sentBack ?? [])]) })
}

const namesOf = (names: readonly string[]): Json =>
  names.length === 0 ? { maxProperties: 0 } : { propertyNames: { enum: [...new Set(names)] } }

const close = (shown: Json): Json => {
  const { properties, items } = shown as { properties?: Record<string, Json>; items?: Json }
  const inner = Object.entries(properties ?? {}).map(([name, member]) => [name, close(member)])
  return {
    ...(properties && !shown['additionalProperties'] && namesOf(Object.keys(properties))),
    ...shown,
    ...(properties && { properties: Object.fromEntries(inner) as Json }),
    ...(items && { items: close(items) }),
  }
}

const makeExamples = ({ examples = {} }: Pick<ResponseSpec, 'examples'>): Json => {
  const named = Object.entries(examples).map(([name, value]) => [name, { value }])
  return named.length === 0 ? {} : { examples: Object.fromEntries(named) }
}

const makeResponses = (route: Route, schemas: Schemas): Json =>
  Object.fromEntries(
    Object.entries({ ...route.responses, ...(route.read && { 304: UNCHANGED }) }).map(
      ([status, spec]) => [status, makeResponse(route, spec, schemas)],
    ),
  )

const UNCHANGED: ResponseSpec = {
  description: 'Nothing has changed since the ETag in If-None-Match.',
}

const makeResponse = (route: Route, spec: ResponseSpec, schemas: Schemas): Json => ({
  description: spec.description,
  headers: headerRefs([
    'X-Request-Id',
    'Ignored-Fields',
    ...quotaHeaders(route),
    ...REPLAYED[route.method],
    ...(route.read ? (['ETag', 'Cache-Control'] as const) : []),
    ...(spec.headers ?? []),
  ]),
  ...(spec.schema || spec.mediaType
    ? {
        content: {
          [spec.mediaType ?? 'application/json']: makeContent(spec, schemas),
          ...Object.fromEntries(
            spec.otherMediaTypes?.map((type) => [type, { schema: TEXT }]) ?? [],
          ),
        },
      }
    : {}),
  ...(spec.links === undefined ? {} : { links: makeLinks(spec.links) }),
})

const REPLAYED: Record<Method, HeaderName[]> = {
  post: ['Idempotent-Replayed'],
  get: [],
  put: [],
  delete: [],
}

/** Bytes, in the words that generators of clients know. */
const TEXT = { type: 'string' }
const BYTES = { type: 'string', format: 'binary' }

const makeContent = (spec: ResponseSpec, schemas: Schemas): Json => {
  const { schema, example, mediaType } = spec
  return {
    schema: schema
      ? schemas.show(schema, 'response')
      : mediaType?.startsWith('text/')
        ? TEXT
        : BYTES,
    ...(example === undefined ? {} : { example }),
    ...makeExamples(spec),
  }
}

const makeLinks = (links: NonNullable<ResponseSpec['links']>): Json =>
  Object.fromEntries(
    Object.entries(links).map(([name, { method, path, parameters }]) => [
      name,
      { operationId: operationId({ method, path }), parameters },
    ]),
  )
