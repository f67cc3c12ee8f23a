import { Type } from 'typebox'

import { makeOpenApi } from './document.ts'
import { defineRoute } from '../route.ts'
import type { JsonAnswer, Route } from '../route.ts'

/** Adds the routes that answer the description of all routes, themselves included. */
export const withOpenApiRoutes = (others: readonly Route[], publicUrl: string): Route[] => {
  const json = () => Promise.resolve({ status: 200, body: document })
  let text: Promise<string> | undefined
  const yaml = async () => ({
    status: 200,
    text: await (text ??= toYaml(document)),
    headers: { 'content-type': YAML },
  })
  const routes = [
    ...others,
    documentRoute('/openapi.json', 'Read this document', json),
    documentRoute('/openapi', 'Read this document, as /openapi.json', json),
    documentRoute('/openapi.yml', 'Read this document as YAML', yaml, YAML),
  ]
  const document = makeOpenApi(routes, publicUrl)
  return routes
}

const documentRoute = (
  path: string,
  summary: string,
  handler: () => Promise<JsonAnswer>,
  mediaType?: string,
): Route =>
  defineRoute({
    method: 'get',
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

/** The library is loaded when it is needed: most processes never are asked. */
const toYaml = async (document: unknown): Promise<string> => {
  const { stringify } = await import('yaml')
  return stringify(document, { aliasDuplicateObjects: false })
}

const OpenApi = Type.Object({
  openapi: Type.String({ pattern: '^3\\.1\\.' }),
  info: Type.Object({}),
  paths: Type.Object({}),
})
