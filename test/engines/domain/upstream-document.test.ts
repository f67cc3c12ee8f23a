import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { readBodyMembers } from '../../../src/engines/domain/upstream-document.ts'

const documentOf = (schema: object, schemas: object = {}) => ({
  openapi: '3.1.0',
  paths: {
    '/v1/image': { post: { requestBody: { content: { 'application/json': { schema } } } } },
  },
  components: { schemas },
})

const membersOf = (schema: object, schemas?: object): object =>
  Object.fromEntries(
    Object.entries(readBodyMembers(documentOf(schema, schemas), '/v1/image')).map(
      ([name, { description: _text, ...rules }]) => [name, rules],
    ),
  )

describe('the OpenAPI document of an upstream', () => {
  test('names the members of a body with their types, ranges and choices', () => {
    const steps = { type: 'integer', minimum: 1, maximum: 50, default: 20 }
    const body = {
      properties: {
        steps,
        guidance: { anyOf: [{ type: 'number', minimum: 0 }, { type: 'null' }] },
        sampler: { $ref: '#/components/schemas/Sampler' },
        mood: { enum: ['calm', 'wild', null] },
        note: { type: ['string', 'null'], maxLength: 20 },
        tiled: { type: 'boolean' },
      },
    }
    const schemas = { Body: body, Sampler: { type: 'string', enum: ['euler', 'heun'] } }
    assert.deepEqual(membersOf({ $ref: '#/components/schemas/Body' }, schemas), {
      steps: { type: 'integer', minimum: 1, maximum: 50 },
      guidance: { type: 'number', minimum: 0 },
      sampler: { type: 'string', enum: ['euler', 'heun'] },
      mood: { type: 'string', enum: ['calm', 'wild'] },
      note: { type: 'string', maxLength: 20 },
      tiled: { type: 'boolean' },
    })
  })

  test('leaves out files, objects and names of the interface', () => {
    const properties = {
      picture: { type: 'string', format: 'uri' },
      options: { type: 'object' },
      kiln_labels: { type: 'string' },
      webhook_url: { type: 'string' },
      'two words': { type: 'string' },
    }
    assert.deepEqual(membersOf({ properties }), {})
    const document = documentOf({ properties: { prompt: { type: 'string' } } })
    assert.deepEqual(readBodyMembers(document, '/v1/image', ['prompt']), {})
  })

  test('says nothing of other paths, and may be anything', () => {
    const document = documentOf({ properties: { steps: { type: 'integer' } } })
    assert.deepEqual(readBodyMembers(document, '/v1/other'), {})
    for (const odd of [{}, { paths: [] }, { paths: { '/v1/image': { post: null } } }])
      assert.deepEqual(readBodyMembers(odd, '/v1/image'), {})
  })
})
