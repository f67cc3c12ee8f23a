import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'

import { validateAliases, type AliasTable } from '../../../src/platform/alias/table.ts'
import { validateNames } from '../../../src/platform/http/names.ts'
import { ROOT } from '../../../src/local/root.ts'
import { HOST_CLIENTS } from '../../../src/local/start.ts'
import {
  findReference,
  listRoutes,
  makeValidateSchema,
  readDocument,
} from '../../support/contract.ts'
import type { Document, Media } from '../../support/contract.ts'

const routes = listRoutes()
const readTable = async (): Promise<AliasTable> =>
  validateAliases(JSON.parse(await readFile(HOST_CLIENTS.WIRE_ALIASES, 'utf8')))

describe('the table of other names', () => {
  test('for the clients of the host lies in deploy/aliases, says what it is for, and is usable', async () => {
    assert.ok(HOST_CLIENTS.WIRE_ALIASES.startsWith(join(ROOT, 'deploy', 'aliases')))
    const table = await readTable()
    assert.match(table.$comment ?? '', /^For WIRE_ALIASES: /)
    validateNames(table, routes)
  })

  const FORMS: [given: unknown, issue: RegExp][] = [
    [[], /the body must be an object, got \[\]/],
    [{ paths: [] }, /^\/paths must be an object, got \[\]/],
    [
      { paths: { imgvendor: 'a/b' } },
      /^\/paths\/imgvendor must be one segment of a path, got "a\/b"/,
    ],
    [{ members: { icon: 1 } }, /^\/members\/icon must be a name without blanks, got 1/],
    [{ members: { icon: '__proto__' } }, /^\/members\/icon must be a name without blanks/],
    [{ headers: { ETag: 'a b' } }, /^\/headers\/ETag must be the name of a header, got "a b"/],
    [
      { member: {} },
      /^\/member must be absent, because nothing reads it; did you mean \/members\?/,
    ],
  ]
  for (const [given, issue] of FORMS)
    test(`rejects ${JSON.stringify(given)}`, () =>
      assert.throws(() => validateAliases(given), { message: issue }))

  const NAMES: [given: object, issue: RegExp][] = [
    [
      { paths: { imgvendr: 'x' } },
      /: \/paths\/imgvendr names nothing here; did you mean imgvendor\?$/,
    ],
    [{ query: { host_node_serch: 'x' } }, /did you mean host_node_search\?/],
    [{ members: { hostnode_name: 'x' } }, /did you mean host_node_name\?/],
    [{ values: { vendor_ilusio: 'x' } }, /did you mean vendor_illusio\?/],
    [{ headers: { 'X-Credit-Used': 'x' } }, /did you mean X-Credits-Used\?/],
    [
      { members: { image: 'picture' } },
      /: \/members\/image holds a picture, which must keep its name$/,
    ],
    [{ members: { icon: 'name' } }, /: \/members\/icon must not be name, which is a name itself$/],
    [{ values: { videoq1: 'a', videoq2: 'a' } }, /: \/values\/videoq2 must not be a like videoq1$/],
  ]
  for (const [given, issue] of NAMES)
    test(`rejects the names ${JSON.stringify(given)}`, () =>
      assert.throws(() => validateNames(validateAliases(given), routes), { message: issue }))
})

describe('the OpenAPI document with other names', () => {
  let plain: Document
  let document: Document
  before(async () => {
    plain = await readDocument()
    document = await readDocument({}, [], await readTable())
  })

  test('has every path of the interface, and those with other names beside them', () => {
    const added = Object.keys(document.paths).filter((path) => !plain.paths[path])
    for (const path of Object.keys(plain.paths)) assert.ok(document.paths[path], path)
    const named = Object.keys(plain.paths).filter((path) => /vendor|\/host-nodes/.test(path))
    assert.equal(added.length, named.length)
    for (const path of [
      '/proxy/freepik/v1/ai/image-upscaler/{task_id}',
      '/proxy/vidu/tasks/{task_id}/creations',
      '/nodes/{nodeId}/versions/{version}/comfy-nodes/{hostNodeName}',
    ])
      assert.ok(added.includes(path), path)
  })

  test('shows the other names where the path has them, and both where it has not', () => {
    const text = (path: string) => JSON.stringify(document.paths[path])
    const read = JSON.stringify(document.components)
    const upscaler = text('/proxy/freepik/v1/ai/image-upscaler')
    assert.match(upscaler, /UpscaleBodyAlias/)
    assert.match(upscaler, /X-Comfy-Credits-Used/)
    assert.match(read, /"magnific_illusio"/)
    assert.doesNotMatch(text('/proxy/imgvendor/v1/ai/image-upscaler'), /Alias|Comfy/)
    const search = document.paths['/nodes/search']?.['get']?.parameters.map(({ name }) => name)
    assert.ok(search?.includes('host_node_search') && search.includes('comfy_node_search'))
    const { Node: node, HostNodeAlias: alias } = document.components['schemas'] as Record<
      string,
      { properties: object; required: string[] }
    >
    assert.ok(node && 'supported_comfyui_version' in node.properties)
    assert.ok('supported_host_version' in node.properties)
    assert.ok(alias && !('host_node_name' in alias.properties))
    assert.ok(alias.required.includes('comfy_node_name'))
  })

  test('has references that name something, ids that are unique, and examples that fit', () => {
    const issueOf = makeValidateSchema(document)
    const ids = new Set<string>()
    for (const [path, item] of Object.entries(document.paths))
      for (const operation of Object.values(item)) {
        assert.ok(!ids.has(operation.operationId), operation.operationId)
        ids.add(operation.operationId)
        const responses = Object.entries(operation.responses)
          .filter(([status]) => status.startsWith('2'))
          .map(([, response]) => response)
        for (const { content = {} } of [
          ...(operation.requestBody ? [operation.requestBody] : []),
          ...responses,
        ])
          for (const { schema, ...media } of Object.values(content))
            for (const value of schema ? examplesOf(media) : [])
              assert.equal(
                issueOf(schema as object, value),
                undefined,
                `${path}: ${JSON.stringify(value)}`,
              )
      }
    for (const item of Object.values(document.paths))
      for (const { responses } of Object.values(item))
        for (const { links = {} } of Object.values(responses))
          for (const { operationId } of Object.values(links)) assert.ok(ids.has(operationId))
    for (const [, reference] of JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g))
      findReference(document, reference ?? '')
  })
})

const examplesOf = ({ example, examples = {} }: Media): unknown[] => [
  ...(example === undefined ? [] : [example]),
  ...Object.values(examples).flatMap(({ value }) => (value === undefined ? [] : [value])),
]
