import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, test } from 'node:test'

import fc from 'fast-check'

import { makeRegistry, unique } from '../registry/http/registry-support.ts'
import { expectStatus } from '../support/client.ts'
import { isLong } from '../support/long.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { useService } from '../support/service.ts'
import { damage } from './damage.ts'

const SEED = 20_261_127
const DAMAGED = isLong ? 5_000 : 150
/** Longest that one request may take, and most that the api may grow by. */
const [RESPONSE_MS, GROWTH_BYTES] = [PATIENCE_MS / 2, 600 * 2 ** 20]

const [pack, Wide] = [unique('wide-pack'), unique('Wide')]
const WIDGETS = Array.from({ length: 200 }, (_, index) => `widget_${index}`)

const listOf = <T>(length: number, make: (index: number) => T): T[] =>
  Array.from({ length }, (_, index) => make(index))

/** Two versions of a pack, of which the second turns round all widgets and choices of its class. */
const service = useService({ roles: ['api'] }, async (service) => {
  const owned = await makeRegistry(service).addPublisher()
  for (const [version, widgets] of [
    ['1.0.0', WIDGETS],
    ['2.0.0', WIDGETS.toReversed()],
  ] as const) {
    const added = await owned.addActive({ nodeId: pack, version })
    const choices = [version, 'a', 'b']
    const required = Object.fromEntries(widgets.map((name) => [name, [choices]]))
    const nodes = { [Wide]: { input_types: { required }, return_types: ['IMAGE', 'MASK'] } }
    expectStatus(await owned.owner.post(`${added.version}/host-nodes`, { nodes }), 204)
  }
})

const properties = { cnr_id: pack, ver: '1.0.0' }
const wide = (id: number) => ({ id, type: Wide, properties, widgets_values: ['1.0.0', 'a'] })
const LINKED = {
  nodes: [
    {
      ...wide(1),
      outputs: [{ name: 'IMAGE', type: 'IMAGE', links: [1] }],
      widgets_values: WIDGETS.map(() => '1.0.0'),
    },
    {
      id: 2,
      type: 'Reroute',
      inputs: [{ name: '', type: '*', link: 1 }],
      outputs: [{ type: '*' }],
    },
    { id: 3, type: 'KSampler', inputs: [{ name: 'image', type: 'IMAGE', link: 2 }] },
    { id: 4, type: 'sub' },
  ],
  links: [
    [1, 1, 0, 2, 0, 'IMAGE'],
    [2, 2, 0, 3, 0, '*'],
  ],
  definitions: { subgraphs: [{ id: 'sub', name: 'Sub', nodes: [wide(1)], links: [] }] },
  extra: { groupNodes: { both: { nodes: [{ type: Wide, index: 0 }], links: [] } } },
}
const reroutes = listOf(20_000, (id) => ({
  id,
  type: id % 2 ? 'Reroute' : Wide,
  inputs: [{ name: 'model', type: '*' }],
}))
const subgraphs = listOf(2_000, (index) => ({
  id: `g${index}`,
  nodes: listOf(20, (step) => ({ id: step, type: `g${(index + step) % 2_000}` })),
}))

/** Workflows that cost the most, as far as 4 MiB and the members of a body go. */
const LARGE: Record<string, unknown> = {
  '60,000 nodes of as many classes': {
    nodes: listOf(60_000, (id) => ({ id, type: `Class ${id}`, properties: { cnr_id: `p-${id}` } })),
  },
  '100,000 nodes of one class': { nodes: listOf(100_000, () => ({ type: Wide })) },
  '20,000 nodes that all break': { nodes: listOf(20_000, wide) },
  '400,000 nothings': { nodes: listOf(399_000, () => null) },
  '60,000 nodes of the API': Object.fromEntries(
    listOf(60_000, (id) => [id, { class_type: `Class ${id % 30_000}`, inputs: { a: ['1', 0] } }]),
  ),
  '20,000 reroutes in circles': {
    nodes: reroutes,
    links: reroutes.flatMap(({ id }) => [
      [id, id, 0, (id + 1) % 20_000, 0, '*'],
      [id, id, 0, 1, 0, '*'],
    ]),
  },
  'subgraphs within each other': { nodes: subgraphs[0]?.nodes, definitions: { subgraphs } },
  'a type of 4 MB': { nodes: [{ id: 1, type: 'x'.repeat(4_000_000) }] },
  'packs of 4 MB': {
    nodes: [{ id: 1, type: 'A', properties: { aux_id: 'y/'.repeat(2_000_000) } }],
  },
  'values of 4 MB': { nodes: [{ ...wide(1), widgets_values: listOf(390_000, () => 1) }] },
}

const nested = (depth: number): string => `${'{"nodes":['.repeat(depth)}${']}'.repeat(depth)}`

const TEXTS: Record<string, string> = {
  'depth of 400,000': `{"workflow":${nested(400_000)}}`,
  'depth of 60': `{"workflow":${nested(29)}}`,
  'a list of 4 MB': `{"workflow":[${'0,'.repeat(2_000_000)}0]}`,
  'NUL and lone surrogates': String.raw`{"workflow":{"nodes":[{"id":1,"type":"\u0000\ud800","properties":{"cnr_id":"\u0000","ver":"\udfff"}}]}}`,
  'names of objects': `{"workflow":{"nodes":[{"id":1,"type":"__proto__"},{"id":2,"type":"constructor"}],"extra":{"groupNodes":{"__proto__":{"nodes":[]}}}}}`,
  'installed of everything': JSON.stringify({
    workflow: LINKED,
    installed: Object.fromEntries(listOf(90_000, (id) => [`pack-${id}`, '1.0.0'])),
  }),
}

const rssOf = async (): Promise<number> => {
  const status = await readFile(`/proc/${service.entry('api').pid}/status`, 'utf8')
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) * 1024
}

describe('any workflow of 4 MiB', () => {
  let slowest = { ms: 0, name: '' }

  /** Sends a body to both routes, and says what was wrong with a response. */
  const send = async (name: string, body: string | Buffer): Promise<string[]> => {
    const issues: string[] = []
    for (const path of ['/workflows/resolve', '/workflows/check']) {
      const start = performance.now()
      const response = await fetch(service.baseUrl + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      }).catch(({ cause }: Error) => cause)
      if (!(response instanceof Response)) {
        issues.push(`${path}, ${name}: reset: ${String(response)}`)
        continue
      }
      await response.arrayBuffer()
      const ms = performance.now() - start
      if (ms > slowest.ms) slowest = { ms, name: `${path}, ${name}` }
      if (response.status >= 500 || ms > RESPONSE_MS)
        issues.push(`${path}, ${name}: ${response.status} after ${Math.round(ms)} ms`)
    }
    return issues
  }

  test('gets a response in time, and no error of the service', async (context) => {
    const before = await rssOf()
    const issues: string[] = []
    for (const [name, workflow] of Object.entries(LARGE))
      issues.push(...(await send(name, JSON.stringify({ workflow }))))
    for (const [name, body] of Object.entries(TEXTS)) issues.push(...(await send(name, body)))
    const [name = '', workflow] = Object.entries(LARGE)[2] ?? []
    const body = JSON.stringify({ workflow })
    const busy = await Promise.all(listOf(12, () => send(name, body)))
    // Those that have no room are rejected before they are read, and a client that only writes meets a reset.
    issues.push(...busy.flat().filter((issue) => !/: (503 after|reset:)/.test(issue)))
    const grown = (await rssOf()) - before
    context.diagnostic(`grown by ${Math.round(grown / 2 ** 20)} MiB, ${JSON.stringify(slowest)}`)
    assert.deepEqual(issues, [])
    assert.ok(grown < GROWTH_BYTES, `grown by ${grown} bytes`)
  })

  test('is read or rejected, however it is damaged', async () => {
    const bases = [{ workflow: LINKED }, { workflow: LINKED, from: { [pack]: '1.0.0' } }]
    const bytes = bases.map((base) => Buffer.from(JSON.stringify(base)))
    const values = fc.oneof(
      damage(bytes),
      damage(bytes, fc.constantFrom(...['null', '[]', '{}', '"', '-1e999', ':'].map(Buffer.from))),
    )
    const issues: string[] = []
    for (const [index, body] of fc.sample(values, { seed: SEED, numRuns: DAMAGED }).entries())
      issues.push(...(await send(`damaged ${index}`, body)))
    assert.deepEqual(issues, [])
  })
})
