import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import type { SchemaNode } from '../../../src/platform/domain/validate.ts'
import { listRoutes } from '../../support/contract.ts'

/** Rules that a message names. */
const DESCRIBED = new Set(
  'type enum const anyOf minimum maximum exclusiveMinimum minLength maxLength format minItems maxItems uniqueItems minProperties maxProperties'.split(
    ' ',
  ),
)

/** Members that say nothing of a value, or hold rules of others, which have messages of their own. */
const OTHERS = new Set(
  'description title default examples example writeOnly deprecated contentMediaType properties required items additionalProperties propertyNames not'.split(
    ' ',
  ),
)

/** Lists the rules of a schema that its message would not name. */
const listUnsaid = (schema: SchemaNode | undefined, at: string): string[] => {
  if (schema === undefined) return []
  const { properties = {}, items, additionalProperties: rest } = schema
  const own = 'x-expectation' in schema ? [] : Object.keys(schema)
  return [
    ...own
      .filter((word) => !DESCRIBED.has(word) && !OTHERS.has(word) && !word.startsWith('x-'))
      .map((word) => `${at} ${word}`),
    ...Object.entries(properties).flatMap(([name, one]) => listUnsaid(one, `${at}/${name}`)),
    ...listUnsaid(items, `${at}/*`),
    ...(typeof rest === 'object' ? listUnsaid(rest, `${at}/{}`) : []),
  ]
}

describe('the message of a broken rule', () => {
  test('names every rule of the field, on every route', () => {
    const unsaid = listRoutes().flatMap(({ method, path, query, body }) => [
      ...listUnsaid(query, `${method} ${path} ?`),
      ...listUnsaid(body?.schema, `${method} ${path} `),
    ])
    assert.deepEqual(unsaid, [])
  })
})
