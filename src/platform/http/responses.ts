import type { TSchema } from 'typebox'

import type { ResponseSpec } from './route.ts'

type More = Omit<ResponseSpec, 'description' | 'schema'>

/** Describes the only success of a route: 200, with a body. */
export const ok = (description: string, schema: TSchema, more?: More) => ({
  200: { description, schema, ...more },
})

/** The same of a route that makes something: 201. */
export const created = (description: string, schema: TSchema, more?: More) => ({
  201: { description, schema, ...more },
})
