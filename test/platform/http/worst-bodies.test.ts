import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { test } from 'node:test'

import { expectStatus } from '../../support/client.ts'
import type { Document } from '../../support/contract.ts'
import { readMetrics } from '../../support/metrics.ts'
import { PATIENCE_MS } from '../../support/patience.ts'
import { measureSlowness } from '../../support/slowness.ts'
import { ADMIN, unique, usePublisher, useRegistry } from '../../registry/http/registry-support.ts'

const registry = useRegistry({ env: { METRICS_PORT: '0' } })
const owned = usePublisher(registry)
const [pack, Sampler] = [unique('pack'), unique('Sampler')]

registry.prepare(async () => {
  for (const [version, choices] of Object.entries({ '1.0.0': ['a', 'b'], '2.0.0': ['b'] })) {
    const added = await owned.addActive({ nodeId: pack, version })
    const input_types = JSON.stringify({ required: { sampler: [choices] } })
    const nodes = { [Sampler]: { input_types, return_types: '["LATENT"]' } }
    expectStatus(await owned.owner.post(`${added.version}/host-nodes`, { nodes }), 204)
  }
})

/** Bytes of a body: the limit of most routes, less what names and brackets take. */
const BYTES = 900_000
const STALL_MS = 250
const LEAST_RESPONSE = 256_000
const MORE_BYTES = 200 * 2 ** 20

interface Schema {
  $ref?: string
  type?: string
  enum?: unknown[]
  const?: unknown
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
  properties?: Record<string, Schema>
  additionalProperties?: Schema | boolean
  items?: Schema
  maxItems?: number
  maxLength?: number
  maximum?: number
  format?: string
}

/** Items of a list and how long each of their texts is, so that all of a body is of about its size. */
interface Shape {
  items: number
  text: number
}
const SHAPES: Record<string, Shape> = {
  'one long text': { items: 1, text: BYTES },
  'many items': { items: 20_000, text: 1 },
  'many items with the same long text': { items: 900, text: 900 },
}

const findSchema = ({ components }: Document, schema: Schema): Schema => {
  const name = schema.$ref?.split('/').at(-1)
  return name === undefined ? schema : ((components['schemas'] ?? {})[name] as Schema)
}

/** Makes the largest value of a schema in a shape; `share` is the part of the body that it may take. */
const fill = (document: Document, given: Schema, shape: Shape, share = 1): unknown => {
  const schema = findSchema(document, given)
  const inner = (one: Schema, part: number) => fill(document, one, shape, share * part)
  const [choice] = schema.anyOf ?? schema.oneOf ?? schema.allOf ?? []
  if (choice && !schema.properties) return inner(choice, 1)
  if ('const' in schema) return schema.const
  if (schema.enum) return schema.enum.at(-1)
  const items = Math.max(1, Math.floor(shape.items * share))
  const text = 'x,'.repeat(shape.text / 2 + 1).slice(0, Math.max(1, Math.floor(shape.text * share)))
  switch (schema.type) {
    case 'string':
      if (schema.format === 'uuid') return randomUUID()
      if (schema.format === 'date-time') return '2030-01-01T00:00:00Z'
      return text.slice(0, schema.maxLength)
    case 'integer':
    case 'number':
      return schema.maximum ?? 1_000_000
    case 'boolean':
      return true
    case 'array': {
      const length = Math.min(items, schema.maxItems ?? Infinity)
      const one = inner(schema.items ?? {}, shape.items === 1 ? 1 : 1 / items)
      return Array.from({ length }, () => one)
    }
    case 'object': {
      const members = Object.entries(schema.properties ?? {})
      const parts = members.map(([name, one]) => [name, inner(one, 1 / members.length)] as const)
      const rule = schema.additionalProperties
      if (typeof rule !== 'object' || members.length > 0) return Object.fromEntries(parts)
      const one = inner(rule, 1 / items)
      return Object.fromEntries(Array.from({ length: items }, (_, index) => [`n${index}`, one]))
    }
    default:
      return { list: Array.from({ length: items }, () => text), text }
  }
}

/** The same body with everything of another type, and with names that nothing knows. */
const spoil = (body: object): Record<string, object> => ({
  'all of another type': Object.fromEntries(
    Object.entries(body).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.map(() => ({})) : [],
    ]),
  ),
  'all empty': Object.fromEntries(
    Object.entries(body).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.map(() => '') : null,
    ]),
  ),
  'unknown names': {
    ...body,
    ...Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`unknown_${index}`, 1])),
  },
})

const many = <Item>(length: number, make: (index: number) => Item): Item[] =>
  Array.from({ length }, (_, index) => make(index))
const long = (length: number): string => 'n'.repeat(length)

/** Two host nodes, and so many links between one output and one input whose types these are. */
const linked = (types: string, links: number) => ({
  nodes: [
    { type: 'a', id: 1, outputs: [{ type: types }] },
    { type: 'b', id: 2, inputs: [{ name: 'x', type: types }] },
  ],
  links: many(links, (index) => [index, 1, 0, 2, 0, '*']),
})

const within = (name: string, nodes: object[]) => ({
  nodes: [{ id: 1, type: 'sub' }],
  links: [],
  definitions: { subgraphs: [{ id: 'sub', name, nodes, links: [] }] },
})

/** Workflows that cost their readers most: 1 MB each, or the 4 MiB that the routes take. */
const WORKFLOWS: Record<string, unknown> = {
  'a million types at 600 links': linked(','.repeat(1_000_000), 600),
  'twenty thousand types at 5,000 links': linked(','.repeat(20_000), 5_000),
  'types at as many links as there may be': linked(','.repeat(999), 50_000),
  'a long name of a subgraph': within(
    long(150_000),
    many(3_000, (id) => ({ id, type: `t${id % 2_000}` })),
  ),
  'a name of 2 MB of a subgraph': within(
    long(2_000_000),
    many(20_000, (id) => ({ id, type: `t${id % 2_000}` })),
  ),
  'warnings below a name as long as names may be': {
    nodes: [{ id: 1, type: `workflow>${long(250)}` }],
    links: [],
    extra: { groupNodes: { [long(250)]: { nodes: many(100_000, () => 0), links: [] } } },
  },
  'as many host nodes as are read': { nodes: many(20_000, (id) => ({ id, type: `t${id}` })) },
  'host nodes of long ids': {
    nodes: many(2_000, (id) => ({ id: `${id}${long(900)}`, type: `t${id % 9}`, title: long(900) })),
  },
  'packs that are not here': {
    nodes: many(3_000, (id) => ({
      id,
      type: `t${id}`,
      properties: { cnr_id: `pack-${id}`, ver: '1' },
    })),
  },
  'a choice that is gone in each of its host nodes': {
    nodes: many(15_000, (id) => ({
      id: `${id}${long(200)}`,
      type: Sampler,
      widgets_values: ['a'],
      properties: { cnr_id: pack, ver: '1.0.0' },
    })),
  },
  'as many members as there may be': { nodes: [], more: many(390_000, () => 0) },
  'as many objects as there may be': { nodes: [], more: many(130_000, () => ({ a: 1 })) },
  'links of as many inputs of the form of the API': Object.fromEntries(
    many(8_000, (id) => [
      `${id}`,
      { class_type: `t${id % 5}`, inputs: { [long(250)]: ['0', 0], a: ['1', 0] } },
    ]),
  ),
}

/** Makes the worst bodies of a route. */
const listBodies = (document: Document, path: string, given: Schema): [string, object][] => {
  if (path.startsWith('/workflows/'))
    return Object.entries(WORKFLOWS).map(([name, workflow]) => [name, { workflow }])
  const bodies = Object.entries(SHAPES).map(
    ([name, shape]) => [name, fill(document, given, shape) as object] as [string, object],
  )
  const [, body = {}] = bodies.at(-1) ?? []
  return [...bodies, ...Object.entries(spoil(body))]
}

/** Bytes and seconds of a process: what it holds at most since the last call, and how long its first thread has worked. */
const makeMeter = (pid: number) => {
  const read = async (file: string) => await readFile(`/proc/${pid}/${file}`, 'utf8')
  const bytesOf = (status: string, name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) * 1024
  return {
    reset: async (): Promise<number> => {
      await writeFile(`/proc/${pid}/clear_refs`, '5')
      return bytesOf(await read('status'), 'VmRSS')
    },
    peakBytes: async (): Promise<number> => bytesOf(await read('status'), 'VmHWM'),
    loopMs: async (): Promise<number> =>
      Number((await read(`task/${pid}/schedstat`)).split(' ', 1)) / 1e6,
  }
}

test(
  'no body of any route stops the others, or gets a response much larger than itself',
  {
    timeout: 10 * PATIENCE_MS,
    skip: process.platform !== 'linux' && 'it reads /proc',
  },
  async () => {
    const { service } = registry
    const api = service.entry('api')
    const meter = makeMeter(api.pid)
    let slowness = Number(process.env['TEST_SLOWNESS'] ?? 1)
    const readLagMs = async (): Promise<number> =>
      ((await readMetrics(api)).get('nodejs_eventloop_lag_max_seconds') ?? 0) * 1000
    const send = async (
      { method, path, text }: Record<'method' | 'path' | 'text', string>,
      isRepeated = false,
    ) => {
      const before = await meter.reset()
      if (isRepeated) await readLagMs()
      const worked = await meter.loopMs()
      const headers = { authorization, 'content-type': 'application/json' }
      const ask = () =>
        fetch(service.baseUrl + path, {
          method,
          body: text,
          headers: { ...headers, 'idempotency-key': randomUUID() },
        })
      // Who still sends a body that is rejected by its length may see a reset: of an api that lives it is no issue.
      const again = async (): Promise<Response> => {
        await fetch(`${service.baseUrl}/health`)
        return await ask()
      }
      const response = await ask().catch(again).catch(again)
      const bytes = (await response.arrayBuffer()).byteLength
      const workMs = (await meter.loopMs()) - worked
      return {
        status: response.status,
        bytes,
        // The event loop stands still for no longer than its thread works, and for no longer than it is late.
        stallMs: isRepeated ? Math.min(await readLagMs(), workMs) : workMs,
        moreBytes: (await meter.peakBytes()) - before,
      }
    }
    const document = (await (await fetch(`${service.baseUrl}/openapi.json`)).json()) as Document
    const authorization = `Bearer ${await service.token(ADMIN)}`
    const values: Record<string, string> = { publisherId: owned.id, nodeId: await owned.addNode() }
    const issues: object[] = []
    let requests = 0
    for (const [template, operations] of Object.entries(document.paths))
      for (const [method, { requestBody }] of Object.entries(operations)) {
        const schema = requestBody?.content['application/json']?.schema
        if (!schema) continue
        const path = template.replace(
          /\{(\w+)\}/g,
          (_, name: string) => values[name] ?? randomUUID(),
        )
        for (const [title, body] of listBodies(document, template, schema)) {
          const sent = { method, path, text: JSON.stringify(body) }
          const size = sent.text.length
          const seen = await send(sent)
          // What else runs here makes its work longer: the least of three is that of the request.
          for (let again = 0; again < 3 && seen.stallMs > STALL_MS * slowness; again += 1) {
            slowness = Math.max(slowness, await measureSlowness())
            seen.stallMs = Math.min(seen.stallMs, (await send(sent, true)).stallMs)
          }
          requests += 1
          if (
            (seen.status >= 500 && seen.status !== 503) ||
            seen.bytes > Math.max(LEAST_RESPONSE, 4 * size) ||
            seen.stallMs > STALL_MS * slowness ||
            seen.moreBytes > MORE_BYTES
          )
            issues.push({ route: `${method} ${template}`, title, size, ...seen })
        }
      }
    assert.deepEqual(issues, [])
    assert.ok(requests > 100, `${requests} requests`)
  },
)
