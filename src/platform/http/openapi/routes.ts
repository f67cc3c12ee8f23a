import { setImmediate } from 'node:timers/promises'

import { Type } from 'typebox'

import { makeOnce } from '../../domain/make-once.ts'
import { addAliases } from '../document.ts'
import type { AliasTable } from '../../alias/table.ts'
import { validateNames } from '../names.ts'
import { makeOpenApi, type DocumentOptions } from './document.ts'
import { defineRoute, type JsonResponse, type Route } from '../route.ts'

type Json = Record<string, unknown>

/** Adds the routes that return the description of all routes, themselves included. */
export const withOpenApiRoutes = (
  others: readonly Route[],
  { aliases, ...options }: DocumentOptions & { aliases: AliasTable | undefined },
): Route[] => {
  const listVariants = makeListVariants(others)
  // Each is written once, until a variant changes: docs/decisions.md, Requests and responses.
  const documentOf = makeOnce((more: readonly Route[]): Json => {
    const isReplaced = ({ path, method }: Route): boolean =>
      more.some((one) => one.path === path && one.method === method)
    const all = [...routes.filter((route) => !isReplaced(route)), ...more]
    const document = makeOpenApi(all, options)
    if (!aliases) return document
    validateNames(aliases, all)
    return addAliases(document, aliases)
  })
  const jsonOf = makeOnce((document: object) => JSON.stringify(document))
  const yamlOf = makeOnce(toYaml)
  const read = () => documentOf(listVariants())
  const json = () => Promise.resolve({ status: 200, body: read(), text: jsonOf(read()) })
  const yaml = async () => ({
    status: 200,
    text: await yamlOf(read()),
    headers: { 'content-type': YAML },
  })
  const routes: Route[] = [
    ...others,
    documentRoute('/openapi.json', 'Read this document', json),
    documentRoute('/openapi', 'Read this document, as /openapi.json', json),
    documentRoute('/openapi.yml', 'Read this document as YAML', yaml, YAML),
  ]
  read()
  return routes
}

/** Makes the list of all variants: another one whenever one of them has changed. */
const makeListVariants = (routes: readonly Route[]) => {
  const variants = routes.flatMap((route) => route.variants ?? [])
  let known: (readonly Route[])[] = []
  let all: readonly Route[] = []
  return (): readonly Route[] => {
    const lists = variants.map((each) => each.list())
    if (lists.some((list, at) => list !== known[at])) all = lists.flat()
    known = lists
    return all
  }
}

const documentRoute = (
  path: string,
  summary: string,
  handler: () => Promise<JsonResponse>,
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
    responses: {
      200: { description: 'The document.', schema: OpenApi, ...(mediaType && { mediaType }) },
    },
    errors: [],
    handler,
  })

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
