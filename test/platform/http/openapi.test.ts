import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'

import { ERROR_CODES, videoStatusOf } from '../../../src/platform/domain/errors.ts'
import { makeCustomKind } from '../../../src/engines/domain/template/custom-kind.ts'
import {
  findReference,
  listRoutes,
  makeContract,
  makeValidateSchema,
  readDocument,
  resolve,
} from '../../support/contract.ts'
import { IMAGE_API, VIDEO_API } from '../../support/client.ts'
import { startRoutes } from '../../support/routes.ts'
import type { Document, Media, Operation, Parameter } from '../../support/contract.ts'

interface Described extends Operation {
  method: string
  path: string
}

/** A kind of each sort of member. */
const CUSTOM = makeCustomKind({
  id: 1,
  name: 'portrait-2',
  members: {
    image: { 'x-media': 'image', description: 'A picture.' },
    clip: { 'x-media': 'video', description: 'A video.' },
    prompt: { type: 'string', maxLength: 10_000, default: 'soft light', description: 'A text.' },
    strength: { type: 'number', minimum: 0, maximum: 100, default: 55, description: 'A number.' },
    seed: { type: 'integer', description: 'A whole number.' },
    mode: { enum: ['normal', 'screen'], default: 'screen', description: 'A choice.' },
    tiled: { type: 'boolean', default: false, description: 'A flag.' },
  },
})
/** The routes of a service that has it. */
const listAll = () => listRoutes({}, [CUSTOM])

let document: Document
let operations: Described[]

before(async () => {
  document = await readDocument({}, [CUSTOM])
  operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ ...operation, method, path })),
  )
})

/** Every value below a part of the document, with the way to it. */
const walk = (part: unknown, at = '#'): [string, unknown][] => [
  [at, part],
  ...(typeof part === 'object' && part !== null
    ? Object.entries(part).flatMap(([name, member]) => walk(member, `${at}/${name}`))
    : []),
]

describe('the OpenAPI document', () => {
  test('is of version 3.1 and says what the service is', () => {
    assert.equal(document.openapi, '3.1.0')
    for (const name of ['title', 'version', 'description', 'license', 'contact'])
      assert.ok(document.info[name], name)
    assert.match(String(document.info['description']).split('\n')[0] ?? '', /not generative/)
  })

  test('is written once, however often it is asked for', async (context) => {
    const server = await startRoutes(listAll())
    const { mock } = context.mock.method(JSON, 'stringify')
    try {
      const texts = []
      for (const path of ['/openapi.json', '/openapi', '/openapi.json'])
        texts.push(await (await fetch(server.url + path)).text())
      assert.deepEqual(JSON.parse(texts[0] ?? ''), document)
      assert.equal(new Set(texts).size, 1)
      const values = mock.calls.map(
        ({ arguments: [value] }) => value as { openapi?: string } | null,
      )
      assert.equal(values.filter((value) => value?.openapi !== undefined).length, 1)
    } finally {
      await server.close()
    }
  })

  test('is sent compressed and with an ETag, for which it is not sent again', async () => {
    const server = await startRoutes(listAll())
    try {
      const get = (path: string, headers: Record<string, string>) =>
        fetch(server.url + path, { headers })
      for (const path of ['/openapi.json', '/openapi.yml']) {
        const plain = await get(path, { 'accept-encoding': 'identity' })
        const text = await plain.text()
        assert.equal(plain.headers.get('content-encoding'), null)
        for (const encoding of ['br', 'gzip']) {
          const packed = await get(path, { 'accept-encoding': encoding })
          assert.equal(packed.headers.get('content-encoding'), encoding)
          assert.equal(packed.headers.get('vary'), 'Accept-Encoding')
          assert.ok((await packed.text()) === text)
          const etag = packed.headers.get('etag') ?? ''
          assert.notEqual(etag, plain.headers.get('etag'))
          const again = await get(path, { 'accept-encoding': encoding, 'if-none-match': etag })
          assert.deepEqual([again.status, (await again.arrayBuffer()).byteLength], [304, 0])
        }
      }
    } finally {
      await server.close()
    }
  })

  test('has every route once, and nothing else', () => {
    const routes = listAll().flatMap((route) => [route, ...(route.variants?.list() ?? [])])
    const expected = routes.map(
      ({ method, path }) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`,
    )
    assert.ok(expected.includes('post /templates/portrait-2/tasks'))
    const described = operations.map(({ method, path }) => `${method} ${path}`)
    assert.deepEqual(described.toSorted(), expected.toSorted())
    assert.equal(new Set(expected).size, expected.length)
  })

  test('has one id, a sentence and known tags for each operation', () => {
    const ids = operations.map(({ operationId }) => operationId)
    assert.equal(new Set(ids).size, ids.length)
    const { tags } = document as unknown as { tags: { name: string; description: string }[] }
    for (const { name, description } of tags) assert.notEqual(description, name)
    for (const { description, tags: own } of operations) {
      assert.ok(description.endsWith('.'), description)
      assert.ok(own.every((tag) => tags.some(({ name }) => name === tag)))
    }
  })

  test('has no reference that names nothing, and no component that nothing names', () => {
    const references = walk(document)
      .filter(([at, value]) => at.endsWith('/$ref') && typeof value === 'string')
      .map(([, value]) => String(value))
    for (const reference of references) findReference(document, reference)
    const named = new Set(references)
    for (const [kind, components] of Object.entries(document.components))
      for (const name of Object.keys(components))
        if (kind !== 'securitySchemes') assert.ok(named.has(`#/components/${kind}/${name}`), name)
  })

  test('has the parameters of each path, and no other in a path', () => {
    for (const { path, parameters } of operations) {
      const inPath = parameters.filter((parameter) => parameter.in === 'path')
      const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
      assert.deepEqual(inPath.map(({ name }) => name).toSorted(), names.toSorted(), path)
      assert.ok(inPath.every(({ required }) => required))
    }
  })

  test('has names of parameters that are unique in their place', () => {
    for (const { path, parameters } of operations) {
      const places = parameters.map((parameter: Parameter) => `${parameter.in} ${parameter.name}`)
      assert.equal(new Set(places).size, places.length, path)
    }
  })

  test('names only security schemes it describes, and an error for each', () => {
    for (const { path, security, responses } of operations) {
      const schemes = security.flatMap((entry) => Object.keys(entry))
      if (path.startsWith(VIDEO_API)) assert.deepEqual(security[0], {}, path)
      assert.ok(schemes.every((name) => document.components['securitySchemes']?.[name]))
      assert.equal('401' in responses, schemes.length > 0, path)
    }
  })

  test('has a status of success and at least one of failure for each operation', () => {
    for (const { path, responses } of operations) {
      const statuses = Object.keys(responses)
      assert.ok(
        statuses.some((status) => /^[23]/.test(status)),
        path,
      )
      assert.ok(
        statuses.some((status) => status.startsWith('4')),
        path,
      )
      assert.ok(
        statuses.every((status) => /^[2-5]\d\d$/.test(status)),
        path,
      )
    }
  })

  test('has for every failure the one shape, the codes of that status and an example of each', () => {
    for (const { path, responses } of operations)
      for (const [status, { content }] of Object.entries(responses)) {
        if (Number(status) < 400 || path === '/ready') continue
        const media = content?.['application/json']
        const codes = Object.keys(media?.examples ?? {})
        assert.ok(codes.length > 0, `${path} ${status}`)
        for (const code of codes as (keyof typeof ERROR_CODES)[]) {
          // The tasks of both families are deleted there.
          const expected =
            path.startsWith(VIDEO_API) || path === '/tasks/{task_id}'
              ? videoStatusOf(code)
              : ERROR_CODES[code].status
          assert.equal(expected, Number(status))
        }
      }
  })

  test('the document has the responses to a bad body for each operation that takes JSON', () => {
    for (const { path, requestBody, responses } of operations)
      if (requestBody?.content['application/json'])
        for (const status of [400, 408, 413, 415, 431, 500, 503])
          assert.ok(status in responses, `${path} ${status}`)
  })

  test('the document has Idempotency-Key and its responses for every POST that may be repeated, and for nothing else', () => {
    for (const { method, path, parameters, responses } of operations) {
      const keyed = parameters.some(({ name }) => name === 'Idempotency-Key')
      // Nothing of an archive that is checked is kept.
      const expected = method === 'post' && path !== '/registry/check'
      assert.equal(keyed, expected)
      assert.equal(keyed && '409' in responses && '422' in responses, expected)
    }
  })

  test('the document has X-Request-Id on every response', () => {
    for (const { responses } of operations)
      for (const { headers } of Object.values(responses)) assert.ok(headers['X-Request-Id'])
  })

  test('leads from a creation to the operations that read and cancel what was made, and to its events', () => {
    const ids = new Map(operations.map((operation) => [operation.operationId, operation]))
    let links = 0
    for (const { responses } of operations)
      for (const response of Object.values(responses))
        for (const { operationId, parameters } of Object.values(response.links ?? {})) {
          const target = ids.get(operationId)
          assert.ok(target, operationId)
          for (const name of Object.keys(parameters))
            assert.ok(target.parameters.some((parameter) => parameter.name === name))
          links += 1
        }
    // Of images and templates, of an API key, of videos, of a list of events, of a publisher, a node and a publication,
    // of a batch and an operation.
    assert.equal(links, (6 + 2) * 3 + 1 + 4 * 3 + 2 + 5 + 3 + 5 + 2)
  })

  test('has one component for each thing that clients name, and no copy of one anywhere', () => {
    const { schemas = {} } = document.components
    for (const name of ['Error', 'ImageTask', 'VideoTask', 'Node', 'NodeVersion', 'Publisher'])
      assert.ok(name in schemas, name)
    const texts = new Map(Object.entries(schemas).map(([name, it]) => [JSON.stringify(it), name]))
    assert.equal(texts.size, Object.keys(schemas).length)
    for (const [at, part] of walk(document))
      if (!/^#\/components\/schemas\/\w+$/.test(at))
        assert.equal(texts.get(JSON.stringify(part)), undefined, at)
  })

  test('has no shape that generators of clients stumble on', () => {
    for (const [at, part] of walk({ ...document, components: document.components['schemas'] })) {
      const schema = (part ?? {}) as Schema & { content?: Record<string, Media> }
      if (typeof schema !== 'object' || Array.isArray(schema)) continue
      if (schema.properties && /\/(schema|components\/\w+)$/.test(at))
        assert.ok(
          !schema.oneOf && !schema.anyOf && !schema.allOf,
          `${at} has a choice beside members`,
        )
      assert.ok(
        typeof schema.default !== 'object' || at.endsWith('/properties'),
        `${at} has an object as default`,
      )
      for (const [type, media] of Object.entries(schema.content ?? {}))
        assert.ok(media.schema, `${at}: ${type} has no schema`)
    }
  })

  test('says the rules that a schema can say', () => {
    const bodyOf = (path: string) =>
      resolve(document, bodyAt(document, `${IMAGE_API}/${path}`)) as {
        required: string[]
        not?: { required: string[] }
        properties: Record<string, Record<string, unknown>>
      }
    const relight = bodyOf('image-relight')
    assert.deepEqual(relight.required, ['image'])
    assert.deepEqual(relight.not?.required, [
      'transfer_light_from_lightmap',
      'transfer_light_from_reference_image',
    ])
    const upscale = bodyOf('image-upscaler').properties
    assert.deepEqual(upscale['scale_factor']?.['enum'], ['2x', '4x', '8x', '16x', null])
    assert.deepEqual([upscale['hdr']?.['minimum'], upscale['hdr']?.['maximum']], [-10, 10])
    const precision = bodyOf('image-upscaler-precision-v2').properties
    assert.deepEqual(precision['scale_factor']?.['type'], ['integer', 'null'])
  })

  test('takes null where a body may leave a member out, and of a video what its model renders', () => {
    const findIssue = makeValidateSchema(document)
    const cases: [string, object, boolean][] = [
      [
        `${VIDEO_API}/text2video`,
        { model: null, prompt: null, images: null, duration: null },
        true,
      ],
      [`${VIDEO_API}/text2video`, { images: [null] }, false],
      [`${VIDEO_API}/text2video`, { model: 'videoq1', resolution: '720p' }, false],
      [`${VIDEO_API}/extend`, { model: null, video_creation_id: 'a', video_url: 'b' }, false],
      [
        `${VIDEO_API}/extend`,
        { model: 'videoq2-pro', video_creation_id: 'a', video_url: null },
        false,
      ],
      [IMAGE_PATH, { image: 'a', scale_factor: null }, true],
      [IMAGE_PATH, { image: null }, false],
      [RELIGHT_PATH, { image: 'a', advanced_settings: { whites: null } }, true],
      [RELIGHT_PATH, { image: 'a', ...LIGHTS }, false],
      [RELIGHT_PATH, { image: 'a', ...LIGHTS, transfer_light_from_lightmap: null }, true],
    ]
    for (const [path, body, passes] of cases)
      assert.equal(findIssue(bodyAt(document, path), body) === undefined, passes, path)
  })

  test('says which sources an extension must be given', async () => {
    for (const extendSource of ['both', 'any'] as const) {
      const own = await readDocument({ extendSource })
      const body = { model: 'videoq2-pro', video_url: 'https://videos.example.com/a.mp4' }
      const issue = makeValidateSchema(own)(bodyAt(own, `${VIDEO_API}/extend`), body)
      assert.equal(issue === undefined, extendSource === 'any', issue)
    }
  })

  test('says where a name that nothing reads is rejected', () => {
    const findIssue = makeValidateSchema(document)
    const strict = listAll().filter(
      ({ unread, body }) => !unread && body && !body.schema['additionalProperties' as never],
    )
    assert.ok(strict.length >= 30)
    for (const { path, method, body } of strict) {
      const schema = bodyAt(document, path.replaceAll(/:(\w+)/g, '{$1}'), method)
      const [example = {}] = Object.values(body?.examples ?? {}) as object[]
      assert.equal(findIssue(schema, example), undefined, path)
      assert.match(findIssue(schema, { ...example, other: 1 }) ?? 'passes', /propert/i, path)
    }
  })

  test('has schemas that are valid JSON Schema of the dialect it uses', () => {
    const known = new Set(
      'type properties required items enum minimum maximum minLength maxLength pattern format default description not allOf $ref x-expectation anyOf oneOf const title minItems maxItems uniqueItems prefixItems contentMediaType deprecated writeOnly additionalProperties propertyNames minProperties maxProperties contains'.split(
        ' ',
      ),
    )
    const schemas = walk(document).filter(([at]) => at.endsWith('/schema'))
    assert.ok(schemas.length > 100)
    for (const [at, schema] of schemas) checkSchema(schema as Schema, at, known)
    for (const [name, schema] of Object.entries(document.components['schemas'] ?? {}))
      checkSchema(schema as Schema, name, known)
  })

  test('has examples that pass their own schemas', () => {
    const findIssue = makeValidateSchema(document)
    let examples = 0
    for (const [at, part] of walk(document)) {
      const { schema, example, examples: named } = (part ?? {}) as Media
      if (!/\/content\/[^/]+(~1[^/]+)?(\/json)?$/.test(at) || schema === undefined) continue
      const values = Object.values(named ?? {}).map(
        (entry) => (resolve(document, entry) as { value: unknown }).value,
      )
      for (const value of [...values, ...(example === undefined ? [] : [example])]) {
        assert.equal(findIssue(schema, value), undefined, `${at}: ${JSON.stringify(value)}`)
        examples += 1
      }
    }
    assert.ok(examples > 100, `${examples} examples`)
  })

  test('has an example body for every operation that takes JSON', () => {
    for (const { path, requestBody } of operations) {
      const media = requestBody?.content['application/json']
      if (media) assert.ok(Object.keys(media.examples ?? {}).length > 0, path)
    }
  })
})

const bodyAt = ({ paths }: Document, path: string, method = 'post'): object =>
  paths[path]?.[method]?.requestBody?.content['application/json']?.schema ?? {}

const IMAGE_PATH = `${IMAGE_API}/image-upscaler`
const RELIGHT_PATH = `${IMAGE_API}/image-relight`
const LIGHTS = { transfer_light_from_lightmap: 'a', transfer_light_from_reference_image: 'b' }

interface Schema {
  type?: string | string[]
  properties?: Record<string, Schema>
  items?: Schema
  required?: string[]
  enum?: unknown[]
  minimum?: number
  maximum?: number
  pattern?: string
  default?: unknown
  allOf?: Schema[]
  anyOf?: Schema[]
  oneOf?: Schema[]
  prefixItems?: Schema[]
  not?: Schema
}

const checkSchema = (schema: Schema, at: string, known: ReadonlySet<string>): void => {
  for (const name of Object.keys(schema)) assert.ok(known.has(name), `${at}/${name}`)
  const { type, properties = {}, items, required, minimum, maximum, pattern } = schema
  const types = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']
  for (const one of [type ?? []].flat()) assert.ok(types.includes(one), at)
  if (pattern !== undefined) assert.ok(new RegExp(pattern, 'u'))
  if (minimum !== undefined && maximum !== undefined) assert.ok(minimum <= maximum, at)
  if (required && Object.keys(properties).length > 0)
    assert.ok(
      required.every((name) => name in properties),
      at,
    )
  for (const [name, member] of Object.entries(properties))
    checkSchema(member, `${at}/${name}`, known)
  if (items) checkSchema(items, `${at}/items`, known)
  for (const word of ['allOf', 'anyOf', 'oneOf', 'prefixItems'] as const)
    for (const [index, part] of (schema[word] ?? []).entries())
      checkSchema(part, `${at}/${word}/${index}`, known)
  if (schema.not) checkSchema(schema.not, `${at}/not`, known)
}

describe('a response that is not documented fails the test that sees it', () => {
  const TASK = { task_id: '5c0f6a52-2a9f-4a3c-9d0e-7d1b6f0c8e21', status: 'CREATED', generated: [] }
  const path = IMAGE_PATH
  const VIDEO = `${VIDEO_API}/text2video`
  const error = (code: string) => ({ error: code, message: 'x', request_id: 'x' })
  const CASES: [string, string, string, number, unknown, boolean][] = [
    ['a documented one', 'POST', path, 200, { data: TASK }, true],
    ['a query', 'GET', `${path}?page=0`, 400, error('validation_failed'), true],
    ['HEAD', 'HEAD', path, 200, undefined, true],
    ['an unknown path', 'GET', '/nowhere', 404, error('not_found'), true],
    ['another method', 'PATCH', path, 405, error('method_not_allowed'), true],
    ['an unknown status', 'POST', path, 201, { data: TASK }, false],
    ['a body without a member', 'POST', path, 200, { data: { ...TASK, status: undefined } }, false],
    ['a value outside its enum', 'POST', path, 200, { data: { ...TASK, status: 'DONE' } }, false],
    ['a code of another status', 'POST', path, 400, error('task_not_found'), false],
    ['an error without its id', 'POST', path, 400, { error: 'json_invalid', message: 'x' }, false],
    ['a video error without details', 'POST', VIDEO, 400, error('validation_failed'), false],
    [
      'a video error with its reason',
      'POST',
      VIDEO,
      400,
      { ...error('validation_failed'), details: ['FieldInvalid', '/model is wrong'] },
      true,
    ],
    [
      'a video error with another word',
      'POST',
      VIDEO,
      400,
      { ...error('validation_failed'), details: ['Wrong', '/model is wrong'] },
      false,
    ],
    ['a failure of an unknown path', 'GET', '/nowhere', 500, error('internal_error'), false],
  ]
  for (const [what, method, path, status, body, documented] of CASES)
    test(`or passes: ${what}`, () => {
      const check = () => makeContract(document)({ method, path, status, body })
      if (documented) check()
      else assert.throws(check, { name: 'AssertionError' })
    })
})
