import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { findNodeFacts, getNode } from '../../../src/registry/db/node.ts'
import { deleteVersion, updateVersion } from '../../../src/registry/db/version.ts'
import { listVersionTransitions } from '../../../src/registry/db/version-transition.ts'
import { VERSION_TRANSITIONS } from '../../../src/registry/domain/version-transition.ts'
import type { VersionTransitionName } from '../../../src/registry/domain/version-transition.ts'
import { OPTIONS, useRegistryPlace, readCounts } from './registry-place.ts'

const { database, place } = useRegistryPlace((place) => place.addPublisher('other', 'otto'))

const latestOf = async (nodeId: string): Promise<string | undefined> =>
  (await getNode(database.sql, nodeId, OPTIONS)).latest_version?.version
const update = (nodeId: string, id: string, fields: object, ifRev?: number) =>
  database.sql.begin((sql) =>
    updateVersion(sql, { publisherId: 'pub', nodeId, id, fields, ifRev }, OPTIONS),
  )
const remove = (nodeId: string, id: string, publisherId = 'pub') =>
  database.sql.begin((sql) => deleteVersion(sql, { publisherId, nodeId, id, userId: 'olga' }))

const MAX = Number.MAX_SAFE_INTEGER

describe('the latest version of a node', () => {
  /** The versions in the order of creation, `!` before one that is deprecated, and the latest of them. */
  const TRAPS: [what: string, active: string, latest: string | undefined][] = [
    ['none', '', undefined],
    ['the order of text', '1.9.0 1.10.0 1.2.0', '1.10.0'],
    ['the order of creation', '2.0.0 1.0.0', '2.0.0'],
    ['a higher one that is deprecated', '1.0.0 !2.0.0', '1.0.0'],
    ['deprecated ones alone', '!1.0.0 !2.0.0 !3.0.0-a', '2.0.0'],
    ['a higher pre-release', '1.0.0 2.0.0-rc.1', '1.0.0'],
    ['pre-releases beside a release that is deprecated', '!1.0.0 1.1.0-beta.2 1.1.0-b', '1.0.0'],
    ['pre-releases alone', '1.1.0-beta.2 1.1.0-beta.11 !1.1.0-rc.1', '1.1.0-beta.11'],
    ['their precedence', '1.0.0-a 1.0.0-a.1 1.0.0-b.2 1.0.0-b.11 1.0.0-b', '1.0.0-b.11'],
    ['more than 32 bits', `1.0.${MAX} 1.0.${MAX - 1}`, `1.0.${MAX}`],
  ]
  for (const [index, [what, active, latest]] of TRAPS.entries())
    test(`withstands ${what}`, async () => {
      const nodeId = `trap-${index}`
      await place.addVersion({ nodeId, version: '99.0.0' })
      for (const text of active.split(' ').filter(Boolean)) {
        const version = text.replace('!', '')
        const given = { deprecated: text.startsWith('!') }
        await place.addActive({ nodeId, version, given })
      }
      assert.equal(await latestOf(nodeId), latest)
    })

  test('follows every transition, deprecation and delete', async () => {
    const nodeId = 'follows'
    const one = await place.addActive({ nodeId, version: '1.0.0' })
    const two = await place.addActive({ nodeId, version: '2.0.0' })
    const three = await place.addActive({ nodeId, version: '3.0.0' })
    const seen: (string | undefined)[] = [await latestOf(nodeId)]
    const step = async (act: () => Promise<unknown>) => {
      await act()
      seen.push(await latestOf(nodeId))
    }
    await step(() => place.transition(three, 'admin_flag', 'looked at'))
    await step(() => place.transition(three, 'admin_activate'))
    await step(() => update(nodeId, three, { deprecated: true }))
    await step(() => update(nodeId, three, { deprecated: false }))
    await step(() => place.transition(three, 'admin_ban', 'bad'))
    await step(() => remove(nodeId, two))
    await step(() => remove(nodeId, one))
    assert.equal(seen.join(), '3.0.0,2.0.0,3.0.0,2.0.0,3.0.0,2.0.0,1.0.0,')
  })

  test('is right when fifty versions pass at once, and moves the revision of the node', async () => {
    const nodeId = 'at-once'
    const ids = await Promise.all(
      Array.from({ length: 50 }, (_, n) => place.addAccepted({ nodeId, version: `1.${n}.0` })),
    )
    const before = await findNodeFacts(database.sql, { id: nodeId, userId: undefined })
    await Promise.all(ids.map((id) => place.transition(id, 'pass')))
    assert.equal(await latestOf(nodeId), '1.49.0')
    const after = await findNodeFacts(database.sql, { id: nodeId, userId: undefined })
    assert.notEqual(after?.revision, before?.revision)
  })
})

describe('a version', () => {
  test('moves as the table of moves says, and no other way', async () => {
    const starts: Record<string, (version: string) => Promise<string>> = {
      NodeVersionStatusPending: (version) => place.addAccepted({ nodeId: 'moves', version }),
      NodeVersionStatusActive: (version) => place.addActive({ nodeId: 'moves', version }),
      NodeVersionStatusFlagged: (version) => via(version, 'flag'),
      NodeVersionStatusBanned: (version) => via(version, 'admin_ban'),
      NodeVersionStatusDeleted: (version) => via(version, 'delete'),
    }
    const via = async (version: string, name: VersionTransitionName): Promise<string> => {
      const id = await place.addAccepted({ nodeId: 'moves', version })
      assert.ok(await place.transition(id, name), name)
      return id
    }
    let number = 0
    for (const [status, make] of Object.entries(starts))
      for (const name of Object.keys(VERSION_TRANSITIONS) as VersionTransitionName[]) {
        // These have conditions of their own, which other tests look at.
        if (name === 'publish' || name === 'expire' || name === 'retry') continue
        number += 1
        const id = await make(`1.0.${number}`)
        const legal = (VERSION_TRANSITIONS[name].from as readonly string[]).includes(status)
        assert.equal(await place.transition(id, name), legal, `${name} from ${status}`)
        const transitions = await listVersionTransitions(database.sql, id)
        assert.equal(transitions.at(-1)?.to, legal ? VERSION_TRANSITIONS[name].to : status)
      }
    const { counted, real } = await readCounts(database)
    assert.deepEqual(counted, real)
  })

  test('becomes active only with an accepted archive', async () => {
    const id = await place.addVersion({ nodeId: 'unscanned' })
    await place.receive(id, 'bytes')
    for (const name of ['pass', 'admin_activate'] as const)
      assert.equal(await place.transition(id, name), false, name)
    await place.accept(id, 'bytes')
    assert.equal(await place.transition(id, 'pass'), true)
  })
})
