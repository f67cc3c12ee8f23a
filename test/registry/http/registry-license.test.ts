import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import licenses from 'spdx-license-list/full.js'

import { expectStatus, listOf, memberOf, pluck } from '../../support/client.ts'
import { writeZip } from '../../support/zip-writer.ts'
import { unique, untilDecided, upload, usePublisher, useRegistry } from './registry-support.ts'

const registry = useRegistry({ roles: ['api', 'core', 'media'] })
const { anonymous } = registry
const owned = usePublisher(registry)
const { owner } = owned

const textOf = (id: string): string =>
  `Copyright (c) 2026 Ann\n${String(licenses[id]?.licenseText).replaceAll(/ (?=the )/g, '\n')}`

const classifier = (name: string): string =>
  `[project]\nclassifiers = ["Topic :: Utilities", "License :: OSI Approved :: ${name}"]\n`

const tag = unique('licensed')

const publish = async (files: Record<string, string>, more: object = {}) => {
  const added = await owned.addVersion({ node: { tags: [tag], ...more } })
  const entries = Object.entries({ '__init__.py': 'NODE_CLASS_MAPPINGS = {}', ...files })
  const zip = writeZip(entries.map(([name, data]) => ({ name: `pack/${name}`, data, method: 8 })))
  assert.equal((await upload(added.signedUrl, zip)).status, 200)
  const seen = await untilDecided(registry, added.version)
  assert.equal(seen['status'], 'NodeVersionStatusActive')
  const findings = listOf<{ issue_type: string; severity: string; message: string }>(
    expectStatus(await owner.get(`${added.version}/findings`), 200),
    'findings',
  )
  const mismatches = findings.filter(({ issue_type }) => issue_type === 'license-mismatch')
  return { nodeId: added.nodeId, license: seen['license_id'], mismatches }
}

describe('the license in an archive', () => {
  test('is known by its SPDX id, by which packs are filtered and counted', async () => {
    const mit = await publish({
      LICENSE: textOf('MIT'),
      'pyproject.toml': classifier('MIT License'),
    })
    const named = { license: '{"file": "legal.txt"}' }
    const apache = await publish({ 'legal.txt': textOf('Apache-2.0'), LICENSE: 'x' }, named)
    const none = await publish({ LICENSE: 'All rights reserved.' })
    assert.deepEqual([mit.license, apache.license, none.license], ['MIT', 'Apache-2.0', undefined])
    const node = expectStatus(await anonymous.get(`/nodes/${mit.nodeId}`), 200)
    assert.equal(memberOf(node, 'latest_version')['license_id'], 'MIT')
    for (const list of ['/nodes/search', '/nodes']) {
      const of = list === '/nodes' ? `node_id=${mit.nodeId}&node_id=${none.nodeId}` : `tag=${tag}`
      const find = async (query: string) =>
        pluck(listOf(await anonymous.get(`${list}?${of}&${query}`), 'nodes')).toSorted()
      assert.deepEqual(await find('license=mit'), [mit.nodeId])
      assert.equal((await find('license=GPL-3.0-only')).length, 0)
      if (list === '/nodes') continue
      const both = [mit.nodeId, apache.nodeId].toSorted()
      assert.deepEqual(await find('license=Apache-2.0&license=MIT'), both)
    }
    const faceted = await anonymous.get(`/nodes/search?tag=${tag}&license=MIT&facets=true`)
    assert.deepEqual(memberOf(faceted, 'facets')['license'], [
      { value: 'Apache-2.0', count: 1 },
      { value: 'MIT', count: 1 },
    ])
    const walk = await anonymous.get('/nodes?include_removed=true&license=MIT')
    expectStatus(walk, 400, 'validation_failed')
  })

  test('is an info finding where the project file states another one', async () => {
    const other = await publish({
      'LICENSE.md': textOf('GPL-3.0-only'),
      'pyproject.toml': classifier('MIT License'),
    })
    assert.equal(other.license, 'GPL-3.0-only')
    assert.deepEqual(
      other.mismatches.map(({ severity }) => severity),
      ['info'],
    )
    assert.match(
      other.mismatches[0]?.message ?? '',
      /pack\/LICENSE\.md is, GPL-3\.0-only: .*MIT License/,
    )
    const same = await publish({
      COPYING: textOf('GPL-3.0-only'),
      'pyproject.toml': classifier('GNU General Public License v3 or later (GPLv3+)'),
    })
    assert.deepEqual([same.license, same.mismatches], ['GPL-3.0-only', []])
  })
})
