import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'

import * as fc from 'fast-check'
import type { TObject } from 'typebox'

import { ERROR_CODES } from '../../src/domain/shared/errors.ts'
import type { Route } from '../../src/http/route.ts'
import { makeAnswerReader } from '../support/client.ts'
import { listRoutes } from '../support/contract.ts'
import { addActive, makePublisher, startRegistry } from './registry-support.ts'
import type { Owned, Registry } from './registry-support.ts'

/**
 * What users of other registries complain of, and the test that shows that it is not so here. Files are those of this
 * folder, `…` stands for `registry-defects`, `extraction` for `registry-extraction`.
 *
 * malformed version, failed update → 500    registry-publish: of the version "…" is told what it should be; of another
 *                                           node, or without a UUID, is not found
 * missing version, null nodes, part of the  …-versions: a body that lacks something
 *   build info, an id without a UUID crash  registry-publish: of another node, or without a UUID, is not found
 * a publisher deleted by anybody            …-accounts: is deleted by nobody, whoever asks
 * e-mail addresses in public reads          …-reads: shows no e-mail address, not even an id that is one
 * deletes that swallow errors               …-database: a delete
 * ban of an unknown thing → 204             …-accounts: is not found: publisher, node, version
 * a ban cannot be undone                    …-accounts: is after a ban exactly what it was
 * no members, a role that may do nothing    registry-role: each cell of the table of roles
 * another node's version changed            registry-publish: of another node, or without a UUID, is not found
 * ids of path and body never compared       registry-publish: of a node with another id in its body is refused;
 *                                           registry-node: is edited in part
 * /versions ignores nodeId                  registry-node: of all nodes is narrowed by node, status and reason
 * a publisher's nodes stop at 10            …-search: pages all nodes of a publisher
 * banned nodes shown when nobody asks       …-search: is hidden when nobody asks for it
 * a search without an order                 …-search: is searched through in one order; is walked from the oldest
 * page 0 silently 1                         registry-node: of … has no page that is none; bad-input: 80
 * archive public before the scan, URL       registry-cli: publishes with exactly 201, two members, and no downloadUrl;
 *   before the upload, no hash              has its upload answered with exactly 200
 * archives without a limit                  archive-upload: refuses more bytes than were signed; bad-input: 87
 * a flagged verdict is never stored         …-checks: is stored with a readable reason; extraction: is Flagged with a
 *                                           sentence that names rule, file and line
 * failure report of an unknown version      registry-host-node: of nothing that is there are not found
 * three error shapes, database text         this file
 * tokens in plain text                      registry-publisher: is shown once and stored as its hash alone
 * tokens without expiry and last use        …-accounts: is refused when its time is over; says when it was last used
 * wrong token and existing version alike    registry-publish: with a token that is not a live one of the publisher has
 *                                           one answer; of a version that has been there is a conflict
 * a version update answers two fields       …-versions: is whole after an update, too
 * the reason only on request                …-versions: has the reason of its status everywhere, asked for or not
 * versions of an unknown node → 200         registry-node: takes its statuses by repeated names; bad-input: 82
 *
 *  1 flagged or banned without a reason     …-checks: is stored with a readable reason; …-versions: is moved with a
 *                                           reason; registry-role: shows findings in whole to members; extraction: shows
 *                                           its findings to members; says why it cannot be had; is Flagged with what is
 *                                           wrong with it
 *  2 a failed scan is Pending for ever      …-checks: says so, holds up no other version
 *  3 verdicts that move, no appeal          extraction: never flag; those of medium severity are told in tags; is Active
 *                                           when its owner asks for a review; …-checks: is looked at by an admin, and
 *                                           each of its moves has an actor; ../faults/reinspect: are scanned anew, and no
 *                                           finding unpublishes them
 *  4 extraction stuck                       ../faults/extraction: are read by another worker when theirs is killed; have
 *                                           failed when each of their children is killed; extraction: is made again when
 *                                           an admin retries it; registry-host-node: may fail first
 *  5 unscanned versions installable         registry-publish: is read in every status, and installed in one;
 *                                           archive: ends at once with the move; is not there before the checks
 *  6 a slow full sync                       …-search: is copied in one page, again as a 304, and later by what changed
 *  7 upload 403 for its Content-Type        archive-upload: takes … Content-Type
 *  8 a number burnt by a half publish       registry-publish: that awaits its archive is answered again; that is refused
 *                                           changes nothing; …-versions: is not burnt by a publication
 *  9 a repository of two nodes → 500        …-search: may be that of two nodes
 * 10 the case of ids                        …-spelling: on every route
 * 11 no own delete, unclear meaning         …-deletes: every read after every delete
 * 12 two nodes claim a class name           …-search: is of the one that preempts it
 * 13 a wrong latest version                 …-versions: is none of the traps
 * 14 no limits, no caching, no JSON         …-reads: has an ETag, rules for caches, and a 304; this file; rate-limit
 * 15 changelog lost, blank stars and dates  registry-cli: hears its changelog back; registry-node and …-versions: has
 *                                           every member that is always there
 */

let registry: Registry
let owned: Owned
let versionId: string
/** The Authorization of each kind of caller. */
let credentials: (string | undefined)[]
const readAnswer = makeAnswerReader()

before(async () => {
  registry = await startRegistry()
  owned = await makePublisher(registry, { id: 'acme' })
  versionId = await addActive(registry, owned, { nodeId: 'tools' })
  const { service } = registry
  credentials = [
    undefined,
    `Bearer ${await service.token(owned.user)}`,
    `Bearer ${await service.token('root')}`,
  ]
})

after(() => registry?.stop())

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
