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
import { PublisherListQuery } from '../../src/domain/registry/publisher.ts'
import { listOptional, totalPages } from '../../src/domain/registry/registry-fields.ts'
import { makeValidator } from '../../src/domain/shared/validate.ts'
import { VersionListQuery } from '../../src/domain/registry/version-query.ts'

const read = (schema: TObject, given: Record<string, string>) =>
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
      assert.deepEqual(read(schema, {}), { value: { page: 1, [size]: usual }, issues: [] })
      assert.deepEqual(read(schema, { page: '7', [size]: String(most) }).value, {
        page: 7,
        [size]: most,
      })
      assert.deepEqual(read(schema, { page: '0' }).issues, [])
    })
    for (const given of ['-1', '1.5', 'abc', '', '1e9', '99999999999'])
      test(`${name} reject the page ${given}`, () =>
        assert.deepEqual(
          read(schema, { page: given }).issues.map(({ field }) => field),
          ['/page'],
        ))
    for (const given of ['0', String(most + 1), 'x'])
      test(`${name} reject the size ${given}`, () =>
        assert.deepEqual(
          read(schema, { [size]: given }).issues.map(({ field }) => field),
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
