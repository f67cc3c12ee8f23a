import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import type { TObject } from 'typebox'

import { AuditLogQuery } from '../../src/domain/registry/audit-log.ts'
import { fromText } from '../../src/domain/shared/from-text.ts'
import { HostNodeListQuery } from '../../src/domain/registry/host-node.ts'
import {
  NodeListQuery,
  NodeSearchQuery,
  PublisherNodePageQuery,
  PublisherNodesQuery,
} from '../../src/domain/registry/node-query.ts'
import { judgePublisherIdQuery } from '../../src/domain/registry/publisher-judge.ts'
import { PublisherListQuery } from '../../src/domain/registry/publisher.ts'
import { listOptional, totalPages } from '../../src/domain/registry/registry-fields.ts'
import { SEARCH_INSTEAD, judgeDepth } from '../../src/domain/registry/search-depth.ts'
import { makeValidator } from '../../src/domain/shared/validate.ts'
import type { Fault } from '../../src/domain/shared/validate.ts'
import { judgeInstallQuery } from '../../src/domain/registry/version-judge.ts'
import { NodeVersionsQuery, VersionListQuery } from '../../src/domain/registry/version-query.ts'

type Texts = Record<string, string | string[]>

const read = (schema: TObject, given: Texts) =>
  makeValidator(schema, listOptional(schema))(fromText(schema, given))

describe('the pages of', () => {
  const QUERIES: [name: string, schema: TObject, size: string, usual: number, most: number][] = [
    ['GET /nodes/search', NodeSearchQuery, 'limit', 10, 100],
    ['GET /nodes', NodeListQuery, 'limit', 10, 1_000],
    ['GET /publishers/{p}/nodes', PublisherNodesQuery, 'limit', 100, 1_000],
    ['GET /publishers/{p}/nodes/v2', PublisherNodePageQuery, 'limit', 10, 100],
    ['GET /users/publishers', PublisherListQuery, 'limit', 100, 1_000],
    ['host nodes', HostNodeListQuery, 'limit', 10, 1_000],
    ['GET /versions', VersionListQuery, 'pageSize', 10, 100],
    ['the audit log', AuditLogQuery, 'pageSize', 10, 100],
  ]
  for (const [name, schema, size, usual, most] of QUERIES) {
    test(`${name} are ${usual} entries long, ${most} at most, and count from 1`, () => {
      assert.deepEqual(read(schema, {}), { value: { page: 1, [size]: usual }, faults: [] })
      assert.deepEqual(read(schema, { page: '7', [size]: String(most) }).value, {
        page: 7,
        [size]: most,
      })
      assert.deepEqual(read(schema, { page: '0' }).faults, [])
    })
    for (const given of ['-1', '1.5', 'abc', '', '1e9', '99999999999'])
      test(`${name} refuse the page ${given}`, () =>
        assert.deepEqual(
          read(schema, { page: given }).faults.map(({ field }) => field),
          ['/page'],
        ))
    for (const given of ['0', String(most + 1), 'x'])
      test(`${name} refuse the size ${given}`, () =>
        assert.deepEqual(
          read(schema, { [size]: given }).faults.map(({ field }) => field),
          [`/${size}`],
        ))
  }

  test('a total are those it fills', () => {
    const CASES: [number, number, number][] = [
      [0, 10, 0],
      [1, 10, 1],
      [10, 10, 1],
      [11, 10, 2],
    ]
    for (const [total, size, pages] of CASES) assert.equal(totalPages(total, size), pages)
  })
})

describe('the filters of', () => {
  const TAKEN: [what: string, schema: TObject, given: Texts, value: object][] = [
    ['a search, with plain signs', NodeSearchQuery, { search: "100%_\\'" }, { search: "100%_\\'" }],
    [
      'a search of 200 characters',
      NodeSearchQuery,
      { search: '😀'.repeat(200) },
      { search: '😀'.repeat(200) },
    ],
    ['a search, empty ones being none', NodeSearchQuery, { search: '', include_banned: '' }, {}],
    [
      'a search for systems',
      NodeSearchQuery,
      { supported_os: ['a', 'b, c'] },
      { supported_os: ['a', 'b, c'] },
    ],
    ['a search, unknown names aside', NodeSearchQuery, { host_version: '1' }, {}],
    [
      'a listing by time',
      NodeListQuery,
      { timestamp: '2026-01-31T12:00:00Z' },
      { timestamp: '2026-01-31T12:00:00Z' },
    ],
    ['a listing by ids', NodeListQuery, { node_id: ['a', 'B'] }, { node_id: ['a', 'B'] }],
    [
      'versions by status',
      VersionListQuery,
      {
        statuses: ['NodeVersionStatusActive', 'NodeVersionStatusDeleted'],
        review_requested: 'true',
      },
      { statuses: ['NodeVersionStatusActive', 'NodeVersionStatusDeleted'], review_requested: true },
    ],
  ]
  for (const [what, schema, given, value] of TAKEN)
    test(`${what} are taken`, () => {
      const { value: got, faults } = read(schema, given)
      const {
        page: _page,
        limit: _limit,
        pageSize: _size,
        ...rest
      } = got as Record<string, unknown>
      assert.deepEqual({ rest, faults }, { rest: value, faults: [] })
    })

  const REFUSED: [what: string, schema: TObject, given: Texts, field: string][] = [
    ['a search of 201 characters', NodeSearchQuery, { search: 'a'.repeat(201) }, '/search'],
    ['a search with NUL', NodeSearchQuery, { host_node_search: 'a\0' }, '/host_node_search'],
    ['a system with NUL', NodeSearchQuery, { supported_os: ['\0'] }, '/supported_os/0'],
    ['a time that is none', NodeListQuery, { timestamp: 'yesterday' }, '/timestamp'],
    ['half a status', NodeVersionsQuery, { statuses: ['Active'] }, '/statuses/0'],
    ['an empty status', NodeVersionsQuery, { statuses: [''] }, '/statuses/0'],
    ['a flag that is none', VersionListQuery, { review_requested: 'maybe' }, '/review_requested'],
    ['an unknown action', AuditLogQuery, { action: 'x' }, '/action'],
  ]
  for (const [what, schema, given, field] of REFUSED)
    test(`${what} are refused`, () =>
      assert.deepEqual(
        read(schema, given).faults.map((fault) => fault.field),
        [field],
      ))
})

describe('the depth of a search', () => {
  const options = { size: 'limit', reach: 10_000, instead: SEARCH_INSTEAD } as const
  const CASES: [page: unknown, limit: unknown, faults: string[]][] = [
    [100, 100, []],
    [1_000, 10, []],
    ['x', 100, []],
    [
      1_001,
      10,
      [
        '?page must be such that page × limit is at most 10000, got 1001 × 10; GET /nodes has no such limit',
      ],
    ],
  ]
  for (const [page, limit, faults] of CASES)
    test(`of page ${String(page)} by ${String(limit)}`, () =>
      assert.deepEqual(
        judgeDepth({ page, limit }, options).map(({ message }) => message),
        faults,
      ))

  test('of versions goes by pageSize', () => {
    const [fault] = judgeDepth({ page: 101, pageSize: 100 }, { size: 'pageSize', reach: 10_000 })
    assert.equal(
      fault?.message,
      '?page must be such that page × pageSize is at most 10000, got 101 × 100',
    )
  })
})

describe('queries with codes of their own', () => {
  const TAKEN = /^\?username must be 1 to 64 lower-case letters, digits and hyphens/
  const CASES: [what: string, faults: Fault[], code?: string, message?: RegExp][] = [
    ['a publisher id may be taken', judgePublisherIdQuery({ username: 'acme' })],
    [
      'of another form',
      judgePublisherIdQuery({ username: 'A' }),
      'publisher_id_unavailable',
      TAKEN,
    ],
    ['empty', judgePublisherIdQuery({ username: '' }), 'publisher_id_unavailable', TAKEN],
    [
      'reserved',
      judgePublisherIdQuery({ username: 'admin' }),
      'publisher_id_unavailable',
      /reserved/,
    ],
    ['a version to install', judgeInstallQuery({ version: '1.0.0' })],
    ['none to install', judgeInstallQuery({})],
    ['a malformed one', judgeInstallQuery({ version: '1.2.3.4' }), 'version_invalid'],
  ]
  for (const [what, faults, code, message = /./] of CASES)
    test(`${what}: ${code ?? 'no fault'}`, () => {
      assert.deepEqual(
        faults.map((fault) => fault.code),
        code === undefined ? [] : [code],
      )
      for (const fault of faults) assert.match(fault.message, message)
    })
})
