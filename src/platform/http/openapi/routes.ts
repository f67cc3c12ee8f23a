import { setImmediate } from 'node:timers/promises'

import { Type } from 'typebox'

import { makeOnce } from '../../domain/make-once.ts'
import { addAliases } from '../document.ts'
import type { AliasTable } from '../../alias/table.ts'
import { validateNames } from '../names.ts'
import { makeOpenApi, type DocumentOptions } from './document.ts'
import { defineRoute, type Route } from '../route.ts'
import { copyText, sendCopy } from '../serve/copies.ts'

type Json = Record<string, unknown>

/** Adds the routes that return the description of all routes, themselves included. */
export const withOpenApiRoutes = (
  others: readonly Route[],
  { aliases, ...options }: DocumentOptions & { aliases: AliasTable | undefined },
): Route[] => {
  const variants = others.find((route) => route.variants)?.variants
  let known: unknown[] = []
  let more: readonly Route[] = []
  /** Lists the variants: another list whenever one of them has changed, or what a body takes. */
  const listMore = (): readonly Route[] => {
    const now = [variants?.list(), ...others.map(({ body }) => body?.findMembers?.())]
    if (now.some((one, at) => one !== known[at])) more = [...(variants?.list() ?? [])]
    known = now
    return more
  }
  // Each is written once, until a variant changes: docs/decisions.md, Requests and responses.
  const documentOf = makeOnce((more: readonly Route[]): Json => {
    const all = [...routes, ...more]
    const document = makeOpenApi(all, options)
    if (!aliases) return document
    validateNames(aliases, all)
    return addAliases(document, aliases)
  })
  const jsonOf = makeOnce((document: Json) => copyText(JSON.stringify(document), JSON_TYPE))
  const yamlOf = makeOnce(async (document: Json) => copyText(await toYaml(document), YAML))
  const read = () => documentOf(listMore())
  const send =
    (copiesOf: typeof jsonOf): Handler =>
    (request) => {
      const document = read()
      return Promise.resolve({
        // For our tools, which read it without HTTP.
        body: document,
        stream: async (response) => sendCopy(await copiesOf(document), request).stream(response),
      })
    }
  const routes: Route[] = [
    ...others,
    documentRoute('/openapi.json', 'Read this document', send(jsonOf)),
    documentRoute('/openapi', 'Read this document, as /openapi.json', send(jsonOf)),
    documentRoute('/openapi.yml', 'Read this document as YAML', send(yamlOf), YAML),
  ]
  read()
  return routes
}

const documentRoute = (
  path: string,
  summary: string,
  handler: Handler,
  mediaType?: string,
): Route =>
  defineRoute({
    method: 'get',
    unread: 'ignored',
    path,
    tag: 'Documentation',
    summary,
    description: 'The OpenAPI 3.1 document of the service, made from the routes it runs.',
    auth: 'none',
    requestHeaders: ['If-None-Match'],
    responses: {
      200: {
        description: 'The document.',
        schema: OpenApi,
        headers: CACHED,
        ...(mediaType && { mediaType }),
      },
      304: { description: 'The caller has the document already.', headers: CACHED },
    },
    errors: [],
    handler,
  })

type Handler = Route['handler']

const CACHED = ['ETag', 'Cache-Control'] as const
const JSON_TYPE = 'application/json; charset=utf-8'
const YAML = 'application/yaml'

/** Writes member by member, so that no other caller waits for all of it: docs/decisions.md, Requests and responses. */
const toYaml = async (document: Record<string, unknown>): Promise<string> => {
  const { stringify } = await import('yaml')
  let text = ''
  for (const [name, member] of Object.entries(document)) {
    const parts = isMap(member)
      ? Object.entries(member).map(([key, part]) => ({ [key]: part }))
      : [member]
    for (const [at, part] of parts.entries()) {
      const piece = stringify({ [name]: part }, { aliasDuplicateObjects: false })
      // Each begins with the name that they share.
      text += at === 0 ? piece : piece.slice(piece.indexOf('\n') + 1)
      await setImmediate()
    }
  }
  return text
}

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const OpenApi = Type.Object({
  openapi: Type.String({ pattern: '^3\\.1\\.' }),
  info: Type.Object({}),
  paths: Type.Object({}),
})
