import assert from 'node:assert/strict'

import { Compile } from 'typebox/compile'

import type { ImageKind } from '../../src/tasks/domain/image/image-kind.ts'
import type { AliasTable } from '../../src/platform/alias/table.ts'
import { makeRoutes } from '../../src/compose/routes.ts'
import type { RouteDeps } from '../../src/compose/routes.ts'
import type { VideoTaskDeps } from '../../src/tasks/create-video.ts'
import type { Route } from '../../src/platform/http/route.ts'
import type { RegistryReads } from '../../src/registry/domain/registry-reads.ts'

/** The members of an OpenAPI document that the tests look at. */
export interface Document {
  openapi: string
  info: Record<string, unknown>
  paths: Record<string, Record<string, Operation>>
  components: Record<string, Record<string, unknown>>
}

export interface Operation {
  operationId: string
  description: string
  security: Record<string, string[]>[]
  tags: string[]
  parameters: Parameter[]
  requestBody?: { required: boolean; content: Record<string, Media> }
  responses: Record<string, DocumentedResponse>
}

export interface Parameter {
  name: string
  in: string
  required: boolean
  schema: object
}

export interface Media {
  schema?: object
  example?: unknown
  examples?: Record<string, { value?: unknown; $ref?: string }>
}

export interface DocumentedResponse {
  description: string
  headers: Record<string, { $ref: string }>
  content?: Record<string, Media>
  links?: Record<string, { operationId: string; parameters: Record<string, string> }>
}

/** Request and response that a test has seen. */
export interface Seen {
  method: string
  /** Path of the request; its query is ignored. */
  path: string
  status: number
  /** The parsed body; undefined when there was none. */
  body: unknown
}

type RouteSettings = Partial<VideoTaskDeps> & { registryReads?: RegistryReads }

/** The routes of a service with default settings. None is called, so none needs what it works with. */
export const listRoutes = (
  { registryReads = 'public', ...settings }: RouteSettings = {},
  kinds: readonly ImageKind[] = [],
  aliases?: AliasTable,
): Route[] => {
  const deps = {
    publicUrl: 'http://kiln.example',
    aliases,
    registry: { registryReads },
    videoTask: { videoAuth: 'optional', extendSource: 'both', ...settings },
    template: { customKinds: { list: () => kinds } },
    publish: { publishAuth: 'bearer+token' },
    platform: { checks: {} },
  }
  // Of any other area an empty bag.
  return makeRoutes(
    new Proxy(deps, {
      get: (target, name) => (name in target ? Reflect.get(target, name) : {}),
    }) as unknown as RouteDeps,
  )
}

/** The document as a caller reads it. */
export const readDocument = async (
  settings?: RouteSettings,
  kinds?: readonly ImageKind[],
  aliases?: AliasTable,
): Promise<Document> => {
  const routes = listRoutes(settings, kinds, aliases)
  const route = routes.find(({ path }) => path === '/openapi.json')
  const response = await route?.handler({} as never)
  assert.ok(response && 'body' in response)
  return JSON.parse(JSON.stringify(response.body)) as Document
}

let contract: Promise<ReturnType<typeof makeContract>> | undefined

/** Makes the validator of a service with default settings once for all clients: it costs as much as ten requests. */
export const readContract = (): Promise<ReturnType<typeof makeContract>> =>
  (contract ??= readDocument().then(makeContract))

/** Makes the validator of responses: each must have a documented status and a body that fits its schema. */
export const makeContract = (document: Document) => {
  const templates = Object.keys(document.paths)
    .toSorted((a, b) => a.split('{').length - b.split('{').length)
    .map((path) => ({
      path,
      form: new RegExp(`^${path.replace(/\/$/, '').replace(/\{\w+\}/g, '[^/]+')}/?$`),
    }))
  const findIssue = makeValidateSchema(document)

  return ({ method, path, status, body }: Seen): void => {
    const [pathname = ''] = path.split('?')
    const template = templates.find(({ form }) => form.test(pathname))?.path
    const name = method === 'HEAD' ? 'get' : method.toLowerCase()
    const operation = template === undefined ? undefined : document.paths[template]?.[name]
    if (!operation) {
      // What no operation describes is rejected, and the rejection has the one shape.
      assert.ok([400, 404, 405].includes(status), `${method} ${path} returned ${status}`)
      return
    }
    const seen = `${method} ${template} returned ${status}`
    const response = operation.responses[status]
    assert.ok(response, `${seen}, which is not documented`)
    if (method === 'HEAD') return
    const { content } = response
    const { schema } = content?.['application/json'] ?? content?.['application/jsonl'] ?? {}
    if (schema === undefined) return
    const error = findIssue(schema, body)
    assert.equal(error, undefined, `${seen} with ${JSON.stringify(body)}`)
  }
}

/** Makes the validator of values by schemas of the document. */
export const makeValidateSchema = (document: Document) => {
  const compiled = new WeakMap<object, ReturnType<typeof Compile>>()
  return (schema: object, value: unknown): string | undefined => {
    const known = compiled.get(schema) ?? Compile(resolve(document, schema) as object)
    compiled.set(schema, known)
    if (known.Check(value)) return undefined
    return known
      .Errors(value)
      .map(({ instancePath, message }) => `${instancePath} ${message}`)
      .join('; ')
  }
}

/** A copy of a part of the document with every reference replaced by what it names. */
export const resolve = (document: Document, part: unknown): unknown => {
  if (Array.isArray(part)) return part.map((item) => resolve(document, item))
  if (typeof part !== 'object' || part === null) return part
  const { $ref, ...beside } = part as { $ref?: string }
  if ($ref !== undefined) {
    const named = resolve(document, findReference(document, $ref))
    if (Object.keys(beside).length === 0) return named
    return { allOf: [named, resolve(document, beside)] }
  }
  return Object.fromEntries(
    Object.entries(part).map(([name, member]) => [name, resolve(document, member)]),
  )
}

/** Finds what a reference names. Throws for one that names nothing. */
export const findReference = (document: Document, reference: string): unknown => {
  assert.match(reference, /^#\//)
  let found: unknown = document
  for (const name of reference.slice(2).split('/'))
    found = (found as Record<string, unknown> | undefined)?.[name]
  assert.ok(found !== undefined, `${reference} names nothing`)
  return found
}
