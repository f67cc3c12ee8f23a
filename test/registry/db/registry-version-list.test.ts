import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { listVersions } from '../../../src/registry/db/search/version-list.ts'
import type { VersionFilter } from '../../../src/registry/db/search/version-statements.ts'
import type { Version } from '../../../src/registry/domain/version.ts'
import { fillCatalogue } from './registry-catalogue.ts'
import { OPTIONS, parseEntries, useRegistryPlace } from './registry-place.ts'

const { database } = useRegistryPlace(() =>
  fillCatalogue(database, { nodes: 300, versionsPerNode: 3 }),
)

const walk = async (filter: VersionFilter, limit = 70) => {
  const found: Version[] = []
  for (let offset = 0; ; offset += limit) {
    const { versions, total } = await listVersions(database.sql, { filter, offset, limit }, OPTIONS)
    if (versions.texts.length === 0) {
      assert.equal(found.length, total)
      return found
    }
    found.push(...parseEntries<Version>(versions))
  }
}

describe('the list of all versions', () => {
  test('is walked newest first, then by id, each once', async () => {
    const versions = await walk({})
    assert.equal(new Set(versions.map(({ id }) => id)).size, 900)
    const sorted = versions.toSorted((a, b) =>
      a.createdAt > b.createdAt || (a.createdAt === b.createdAt && a.id < b.id) ? -1 : 1,
    )
    assert.deepEqual(versions, sorted)
  })

  const FLAGGED = 'NodeVersionStatusFlagged'
  const SEVERAL = [FLAGGED, 'NodeVersionStatusActive', 'NodeVersionStatusBanned'] as const
  const isStudio = ({ node_id, status }: Version) =>
    status === FLAGGED && node_id.startsWith('studio-pack-2')
  const CASES: [string, VersionFilter, holds: (version: Version) => boolean][] = [
    ['one status', { statuses: [FLAGGED] }, ({ status }) => status === FLAGGED],
    ['several statuses', { statuses: SEVERAL }, () => true],
    ['a part of the reason, in any case', { reason: 'FINDING in studio-PACK-2' }, isStudio],
    ['plain characters', { reason: '%' }, () => false],
    ['a node, in any case', { nodeId: 'MY-PACK-2' }, ({ node_id }) => node_id === 'my-pack-2'],
    ['an unknown node', { nodeId: 'nobody' }, () => false],
  ]
  for (const [what, filter, holds] of CASES)
    test(`is narrowed by ${what}`, async () => {
      const expected = (await walk({})).filter(holds)
      assert.deepEqual(await walk(filter), expected)
    })
})
