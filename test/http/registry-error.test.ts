import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import * as fc from 'fast-check'
import type { TObject } from 'typebox'

import { ERROR_CODES } from '../../src/domain/shared/errors.ts'
import type { Route } from '../../src/http/route.ts'
import { readAnswer } from '../support/client.ts'
import { listRoutes } from '../support/contract.ts'
import { ADMIN, usePublisher, useRegistry } from './registry-support.ts'

const registry = useRegistry()
const owned = usePublisher(registry, { id: 'acme' })
let versionId: string
/** The Authorization of each kind of caller. */
let credentials: (string | undefined)[]

registry.prepare(async () => {
  versionId = (await owned.addActive({ nodeId: 'tools' })).id
  const { service } = registry
  credentials = [
    undefined,
    `Bearer ${await service.token(owned.user)}`,
    `Bearer ${await service.token(ADMIN)}`,
  ]
})

const OF_REGISTRY = /^\/(publishers|users|nodes|versions|bulk|host-nodes|admin|archives|uploads)\b/
/** Reads first and what removes or bans last, so that there is something to be found for long. */
const ROUTES = listRoutes()
  .filter(({ path }) => OF_REGISTRY.test(path))
  .toSorted((a, b) => harmOf(a) - harmOf(b))

function harmOf({ method, path }: Route): number {
  return ['get', 'post', 'put', 'delete'].indexOf(method) + (path.startsWith('/admin') ? 10 : 0)
}

/** Seen in every run, so that a failure can be repeated. */
const SEED = 20_261_121
const RUNS = 15

const ODD = [
  '',
  ' ',
  "'",
  '";--',
  '..',
  '../../etc/passwd',
  '%',
  '\u0000',
  'İ',
  '١',
  '__proto__',
  'a'.repeat(300),
  '0',
  '-1',
  '1e9',
  '9007199254740993.0.0',
  `1.0.0-${'a.'.repeat(100)}`,
  '00000000-0000-0000-0000-000000000000',
  '2026-02-30T00:00:00Z',
  'javascript:1',
] as const

/** Names and values that are there, so that requests get far. */
const known = (): string[] => [
  'acme',
  'ACME',
  'tools',
  '1.0.0',
  versionId,
  owned.user,
  owned.token,
  'NodeVersionStatusActive',
  'https://x.org',
]

const text = () =>
  fc.oneof(
    fc.constantFrom(...known()),
    fc.constantFrom(...ODD),
    fc.string({ unit: 'binary', maxLength: 20 }),
  )

const value = () =>
  fc.oneof(text(), fc.integer(), fc.constantFrom(null, true, [], {}), fc.jsonValue({ maxDepth: 3 }))

const membersOf = (schema: object | undefined): string[] =>
  Object.keys((schema as TObject | undefined)?.properties ?? {})

const objectOf = (names: readonly string[]): fc.Arbitrary<unknown> =>
  fc.record(Object.fromEntries(names.map((name) => [name, value()])), { requiredKeys: [] })

/** A body by the schema's names, members of members included, or no such thing at all. */
const bodyFor = ({ body }: Route): fc.Arbitrary<string> => {
  const { properties = {} } = (body?.schema ?? {}) as Partial<TObject>
  const members = Object.entries(properties).map(([name, schema]) => {
    const inner = membersOf(schema)
    return [name, inner.length > 0 ? fc.oneof(objectOf(inner), value()) : value()] as const
  })
  const built = fc.record(Object.fromEntries(members), { requiredKeys: [] })
  const json = fc.oneof({ weight: 4, arbitrary: built }, { weight: 1, arbitrary: value() })
  return fc.oneof(
    { weight: 9, arbitrary: json.map((given) => JSON.stringify(given) ?? '') },
    { weight: 1, arbitrary: fc.constantFrom('', '{', 'null', '{"a":1,"a":2}', '"\\ud800"') },
  )
}

interface Sent {
  path: string
  body: string | undefined
  headers: Record<string, string>
}

/** Without these the path would be that of another route. */
const isSegment = (text: string): boolean => !['', '.', '..'].includes(text)

const requestFor = (route: Route): fc.Arbitrary<Sent> => {
  const params = [...route.path.matchAll(/:\w+/g)].map(([name]) => name)
  const queries = fc.constantFrom(...membersOf(route.query), 'unknown', 'a[]', '__proto__')
  return fc
    .record({
      params: fc.tuple(...params.map(() => text().filter(isSegment))),
      query: fc.array(fc.tuple(queries, text()), { maxLength: 3 }),
      body: route.method === 'get' ? fc.constant(undefined) : bodyFor(route),
      headers: fc.record(
        {
          'if-none-match': fc.constantFrom('*', '"1"', 'W/"x", "y"', ','),
          'if-match': fc.constantFrom('*', '"1"', 'W/"x"', '"99999999999999999999"'),
          'idempotency-key': fc.constantFrom('a', 'b', 'é'),
          range: fc.constantFrom('bytes=0-', 'bytes=9-1', 'lines=1'),
        },
        { requiredKeys: [] },
      ),
    })
    .map(({ params: given, query, body, headers }) => {
      const path = params.reduce(
        (path, name, index) => path.replace(name, encodeURIComponent(given[index] ?? '')),
        route.path,
      )
      const type = body === undefined ? {} : { 'content-type': 'application/json' }
      const search = new URLSearchParams(query).toString()
      return {
        path: search === '' ? path : `${path}?${search}`,
        body,
        headers: { ...type, ...headers },
      }
    })
}

const send = async (route: Route, { path, body, headers }: Sent, authorization?: string) => {
  const method = route.method.toUpperCase()
  const response = await fetch(registry.service.baseUrl + path, {
    method,
    headers: { ...headers, ...(authorization === undefined ? {} : { authorization }) },
    ...(body === undefined ? {} : { body }),
    signal: AbortSignal.timeout(20_000),
  })
  if (!response.headers.get('content-type')?.includes('json') && response.ok) {
    await response.arrayBuffer()
    return
  }
  const answer = await readAnswer(response, { method, path })
  assertOneShape(answer, `${method} ${path} ${body ?? ''}`)
}

const MEMBERS = ['error', 'message', 'details', 'request_id']

/** What a message says of the inside: statements, tables, drivers, stacks, secrets. */
const INSIDE =
  /\b(select|insert into|delete from)\b|violates|constraint|relation "|syntax error|postgres|node_modules|\.ts:\d|kiln_pat_\w{36}/i

const assertOneShape = (answer: Awaited<ReturnType<typeof readAnswer>>, what: string): void => {
  const { status, headers, body } = answer
  assert.ok(status < 500, `${what} answered ${status} ${JSON.stringify(body)}`)
  if (status < 400) return
  assert.deepEqual(
    Object.keys(body).filter((name) => !MEMBERS.includes(name)),
    [],
    what,
  )
  const { error = '', message, details = [], request_id: id } = body
  const code = (ERROR_CODES as Record<string, { status: number } | undefined>)[error]
  assert.equal(code?.status, status, `${what}: ${error}`)
  assert.ok(typeof message === 'string' && message.trim() !== '', what)
  assert.ok(
    details.every((detail) => typeof detail === 'string' && detail !== ''),
    what,
  )
  assert.equal(id, headers.get('x-request-id'), what)
  assert.equal(headers.get('cache-control'), 'no-store', what)
  assert.doesNotMatch(JSON.stringify(body), INSIDE, what)
}

describe('an error of the registry has the one shape', () => {
  for (const route of ROUTES)
    test(`whatever is sent to ${route.method.toUpperCase()} ${route.path}`, async () => {
      const requests = fc.sample(requestFor(route), { numRuns: RUNS, seed: SEED })
      for (const [index, sent] of requests.entries())
        await send(route, sent, credentials[index % credentials.length])
    })

  test('also where the method, the credential or the kind of body is refused', async () => {
    const paths = new Set(ROUTES.map(({ path }) => path))
    for (const path of paths) {
      const response = await fetch(registry.service.baseUrl + path, { method: 'PATCH' })
      const answer = await readAnswer(response, { method: 'PATCH', path })
      assert.equal(answer.status, 405, path)
      assert.ok(answer.headers.get('allow'), path)
      assertOneShape(answer, `PATCH ${path}`)
    }
    for (const route of ROUTES) {
      const { path, body } = route
      const plain = {
        path,
        body: body && '{}',
        headers: body ? { 'content-type': 'text/plain' } : {},
      }
      await send(route, plain, credentials[2])
      for (const authorization of ['Bearer x', 'Basic eA==', owned.token])
        await send(route, { ...plain, headers: {} }, authorization)
    }
  })
})
