import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { ERROR_CODES } from '../../../src/platform/domain/errors.ts'
import type { NodeStatus } from '../../../src/registry/domain/node.ts'
import type { PublisherStatus } from '../../../src/registry/domain/publisher.ts'
import type { VersionStatus } from '../../../src/registry/domain/version.ts'
import {
  nodeCondition,
  nodeRejection,
  publisherRejection,
  versionRejection,
} from '../../../src/registry/domain/visibility.ts'
import type { NodeCondition } from '../../../src/registry/domain/visibility.ts'

const short = (code: keyof typeof ERROR_CODES | undefined): string =>
  code === undefined ? 'yes' : `${ERROR_CODES[code].status} ${code}`

describe('the condition of a node', () => {
  const CASES: [NodeStatus, PublisherStatus, NodeCondition][] = [
    ['NodeStatusActive', 'PublisherStatusActive', 'active'],
    ['NodeStatusBanned', 'PublisherStatusActive', 'node_banned'],
    ['NodeStatusDeleted', 'PublisherStatusActive', 'deleted'],
    ['NodeStatusActive', 'PublisherStatusBanned', 'publisher_banned'],
    ['NodeStatusBanned', 'PublisherStatusBanned', 'publisher_banned'],
    ['NodeStatusDeleted', 'PublisherStatusBanned', 'deleted'],
  ]
  for (const [node, publisher, condition] of CASES)
    test(`${node} under ${publisher} is ${condition}`, () =>
      assert.equal(nodeCondition(node, publisher), condition))
})

describe('a node is seen', () => {
  const banned = (code: string) => Array.from({ length: 4 }, () => `403 ${code}`)
  // read, install, write, publish
  const TABLE: Record<NodeCondition, string[]> = {
    active: ['yes', 'yes', 'yes', 'yes'],
    node_banned: banned('node_banned'),
    publisher_banned: banned('publisher_banned'),
    deleted: ['404 node_not_found', '404 node_not_found', '404 node_not_found', '409 node_deleted'],
  }
  for (const [condition, expected] of Object.entries(TABLE))
    test(`${condition}: ${expected.join(' · ')}`, () =>
      assert.deepEqual(
        (['read', 'install', 'write', 'publish'] as const).map((access) =>
          short(nodeRejection(condition as NodeCondition, access)),
        ),
        expected,
      ))

  test('by platform admins as if it were not banned, who do no more than read', () => {
    const admin = { isPlatformAdmin: true }
    assert.equal(nodeRejection('node_banned', 'read', admin), undefined)
    assert.equal(nodeRejection('publisher_banned', 'read', admin), undefined)
    assert.equal(nodeRejection('publisher_banned', 'write', admin), 'publisher_banned')
    assert.equal(nodeRejection('deleted', 'read', admin), 'node_not_found')
    assert.equal(publisherRejection('PublisherStatusBanned', 'read', admin), undefined)
    assert.equal(publisherRejection('PublisherStatusBanned', 'write', admin), 'publisher_banned')
    assert.equal(publisherRejection('PublisherStatusBanned', 'read'), 'publisher_banned')
    assert.equal(publisherRejection('PublisherStatusActive', 'write'), undefined)
  })
})

describe('a version is seen', () => {
  const absent = ['404 version_not_installable', '404 archive_not_found']
  const blocked = ['yes', '403 version_blocked', '403 version_blocked', 'yes']
  // read, install, archive, write
  const TABLE: Record<VersionStatus, string[]> = {
    NodeVersionStatusActive: ['yes', 'yes', 'yes', 'yes'],
    NodeVersionStatusPending: ['yes', ...absent, 'yes'],
    NodeVersionStatusFlagged: blocked,
    NodeVersionStatusBanned: blocked,
    NodeVersionStatusDeleted: ['404 version_not_found', ...absent, '404 version_not_found'],
  }
  for (const [status, expected] of Object.entries(TABLE))
    test(`${status}: ${expected.join(' · ')}`, () =>
      assert.deepEqual(
        (['read', 'install', 'archive', 'write'] as const).map((access) =>
          short(versionRejection(status as VersionStatus, access)),
        ),
        expected,
      ))
})
