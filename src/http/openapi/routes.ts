import { Type } from 'typebox'

import { makeOpenApi } from './document.ts'
import { defineRoute } from '../route.ts'
import type { Route } from '../route.ts'

/** Adds the route that answers the description of all routes, itself included. */
export const withOpenApiRoute = (others: readonly Route[], publicUrl: string): Route[] => {
  const routes = [
    ...others,
    defineRoute({
      method: 'get',
      path: '/openapi.json',
      tag: 'Documentation',
      summary: 'Read this document',
      description: 'The OpenAPI 3.1 document of the service, made from the routes it runs.',
      auth: 'none',
      responses: { 200: { description: 'The document.', schema: OpenApi } },
      errors: [],
      handler: () => Promise.resolve({ status: 200, body: document }),
    }),
  ]
  const document = makeOpenApi(routes, publicUrl)
  return routes
}

const OpenApi = Type.Object({
  openapi: Type.String({ pattern: '^3\\.1\\.' }),
  info: Type.Object({}),
  paths: Type.Object({}),
})
