import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import type { TObject } from 'typebox'

import { AuditLogQuery } from '../../../src/platform/domain/audit-log.ts'
import { fromText } from '../../../src/platform/domain/from-text.ts'
import { HostNodeListQuery } from '../../../src/registry/domain/host-node.ts'
import {
  NodeListQuery,
  NodeSearchQuery,
  PublisherNodePageQuery,
  PublisherNodesQuery,
} from '../../../src/registry/domain/node-query.ts'
import { PublisherListQuery } from '../../../src/registry/domain/publisher.ts'
import { listOptional, totalPages } from '../../../src/platform/domain/schema-fields.ts'
import { makeValidator } from '../../../src/platform/domain/validate.ts'
import { VersionListQuery } from '../../../src/registry/domain/version-query.ts'

const read = (schema: TObject, given: Record<string, string>) =>
  makeValidator(schema, listOptional(schema))(fromText(schema, given))

describe('the pages of', () => {
  const QUERIES: [name: string, schema: TObject, size: string, usual: number, max: number][] = [
    ['GET /nodes/search', NodeSearchQuery, 'limit', 10, 100],
    ['GET /nodes', NodeListQuery, 'limit', 10, 1_000],
    ['GET /publishers/{p}/nodes', PublisherNodesQuery, 'limit', 100, 1_000],
    ['GET /publishers/{p}/nodes/v2', PublisherNodePageQuery, 'limit', 10, 100],
    ['GET /users/publishers', PublisherListQuery, 'limit', 100, 1_000],
    ['host nodes', HostNodeListQuery, 'limit', 10, 1_000],
    ['GET /versions', VersionListQuery, 'pageSize', 10, 100],
    ['the audit log', AuditLogQuery, 'pageSize', 10, 100],
  ]
  for (const [name, schema, size, usual, max] of QUERIES) {
    test(`${name} are ${usual} entries long, ${max} at max, and count from 1`, () => {
      assert.deepEqual(read(schema, {}), { value: { page: 1, [size]: usual }, issues: [] })
      const last = read(schema, { page: '7', [size]: String(max) })
      assert.deepEqual(last.value, { page: 7, [size]: max })
      assert.deepEqual(read(schema, { page: '0' }).issues, [])
    })
    const WRONG = [
      ...['-1', '1.5', 'abc', '', '1e9', '99999999999'].map((given) => ['page', given]),
      ...['0', String(max + 1), 'x'].map((given) => [size, given]),
    ]
    for (const [member = '', given = ''] of WRONG)
      test(`${name} reject the ${member} ${given}`, () => {
        const fields = read(schema, { [member]: given }).issues.map(({ field }) => field)
        assert.deepEqual(fields, [`/${member}`])
      })
  }

  test('a total are those it fills', () => {
    const totals = [0, 1, 10, 11]
    assert.deepEqual(
      totals.map((total) => totalPages(total, 10)),
      [0, 1, 1, 2],
    )
  })
})
