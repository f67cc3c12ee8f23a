import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { expireVersion } from '../../../src/registry/db/archive.ts'
import { findNodeFacts } from '../../../src/registry/db/node.ts'
import { transitionVersion } from '../../../src/registry/db/version-transition.ts'
import { transitionPublisher } from '../../../src/registry/db/publisher-ban.ts'
import { getVersion } from '../../../src/registry/db/version.ts'
import { AUDIT, OPTIONS, readCounts, useRegistryPlace } from './registry-place.ts'

describe('publishing', () => {
  const { database, place } = useRegistryPlace((place) => place.addPublisher('other', 'otto'))

  const expire = (id: string) => database.sql.begin((sql) => expireVersion(sql, id))
  const makeLate = (id: string) => database.sql`
    update version set upload_expires_at = clock_timestamp() - interval '6 minutes' where id = ${id}
  `

  test('gives the version that awaits its archive again, with new fields and a new deadline', async () => {
    const first = await place.publish({ nodeId: 'again', given: { changelog: 'one', tags: ['x'] } })
    const second = await place.publish({
      nodeId: 'AGAIN',
      version: '1.0.0+build',
      given: { changelog: 'two' },
      uploadSeconds: 7_200,
    })
    assert.ok(first.result === 'published' && second.result === 'published', second.result)
    const { id, node_id: nodeId, version, changelog, tags } = second.version
    assert.deepEqual([id, nodeId, version], [first.version.id, 'again', '1.0.0+build'])
    assert.deepEqual([changelog, tags], ['two', []])
    assert.deepEqual([first.changed, second.changed], [[], ['changelog', 'tags']])
    assert.ok(second.uploadExpiresAt > first.uploadExpiresAt, 'a later deadline')
    const workflow = `publish-version/${first.version.id}`
    const starts = await database.sql`select from outbox where workflow_id = ${workflow}`
    assert.equal(starts.length, 1)
  })

  test('frees no number that a platform admin has decided on', async () => {
    const id = await place.addVersion({ nodeId: 'by-hand' })
    await database.sql.begin((sql) =>
      transitionVersion(sql, { id, name: 'admin_flag', actor: 'user:root' }),
    )
    await place.transition(id, 'delete')
    assert.equal((await place.publish({ nodeId: 'by-hand' })).result, 'version_exists')
  })

  test('makes a version again whose publisher has lost the token for it', async () => {
    const first = await place.addVersion({ nodeId: 'revoked' })
    await database.sql`
      update personal_access_token set revoked_at = now()
      where id = (select token_id from version where id = ${first})
    `
    assert.notEqual(await place.addVersion({ nodeId: 'revoked' }), first)
    await database.sql`update personal_access_token set revoked_at = null`
  })

  test('rejects a version whose archive has arrived, and leaves the pack as it was', async () => {
    const id = await place.addVersion({ nodeId: 'taken', fields: { description: 'before' } })
    await place.receive(id, 'bytes')
    const before = await findNodeFacts(database.sql, { id: 'taken', userId: undefined })
    const rejected = await place.publish({ nodeId: 'taken', fields: { description: 'after' } })
    assert.ok(rejected.result === 'version_exists', rejected.result)
    assert.equal(rejected.taken.status, 'NodeVersionStatusPending')
    assert.deepEqual(await findNodeFacts(database.sql, { id: 'taken', userId: undefined }), before)
  })

  const STANDING = [
    ['rejected', 'flag', 'published'],
    ['rejected', 'delete', 'published'],
    ['rejected', 'admin_ban', 'version_exists'],
    ['accepted', 'flag', 'version_exists'],
    ['accepted', 'delete', 'version_exists'],
    ['awaiting', 'delete', 'published'],
  ] as const
  for (const [archive, transition, result] of STANDING)
    test(`of a number whose archive was ${archive}, after ${transition}: ${result}`, async () => {
      const nodeId = `again-${archive}-${transition}`
      const old = await place.addVersion({ nodeId })
      if (archive !== 'awaiting') await place.receive(old, old)
      if (archive === 'accepted') assert.ok(await place.accept(old, old))
      if (archive === 'rejected') await place.reject(old, old)
      assert.ok(await place.transition(old, transition, 'because'))
      const again = await place.publish({ nodeId })
      assert.equal(again.result, result)
      const rows = await database.sql`
        select id, status, archive_state as state from version where node_id = ${nodeId}
      `
      const before = rows.find(({ id }) => id === old)
      assert.equal(rows.length, result === 'published' ? 2 : 1)
      if (result === 'published')
        assert.deepEqual(
          [before?.['status'], before?.['state']],
          ['NodeVersionStatusDeleted', 'replaced'],
        )
      const { counted, real } = await readCounts(database)
      assert.deepEqual(counted, real)
    })

  test('says which version stays the latest, and why', async () => {
    const nodeId = 'latest'
    await place.addActive({ nodeId, version: '0.4.11' })
    for (const [version, given, latest] of [
      ['0.4.2', {}, { version: '0.4.11', because: 'has the higher number' }],
      ['1.0.0-rc.1', {}, { version: '0.4.11', because: 'is a release' }],
      ['1.0.0', { deprecated: true }, { version: '0.4.11', because: 'is not deprecated' }],
      ['0.5.0', {}, undefined],
    ] as const) {
      const published = await place.publish({ nodeId, version, given })
      assert.ok(published.result === 'published')
      assert.deepEqual(published.latest, latest, version)
    }
  })

  const PAIRS = [
    ['1.0.0+a', '1.0.0+b', 1],
    ['1.0.0-rc.1+a', '1.0.0-rc.1', 1],
    ['1.0.0-rc.1', '1.0.0-RC.1', 2],
    ['1.0.0-1', '1.0.0', 2],
  ] as const
  for (const [index, [one, two, rows]] of PAIRS.entries())
    test(`holds ${one} and ${two} for ${rows === 1 ? 'one version' : 'two versions'}`, async () => {
      const nodeId = `canonical-${index}`
      await place.addVersion({ nodeId, version: one })
      await place.addVersion({ nodeId, version: two })
      const made = await database.sql`select from version where node_id = ${nodeId}`
      assert.equal(made.length, rows)
    })

  test('is by a token, which none but a member makes', async () => {
    await place.addUser('tom')
    await assert.rejects(place.addToken('pub', 'tom'), /no_member/)
  })

  test('does not expire a version whose archive came after all', async () => {
    const id = await place.addVersion({ nodeId: 'late' })
    await place.receive(id, 'bytes')
    await makeLate(id)
    assert.equal(await expire(id), false)
    assert.equal((await getVersion(database.sql, id, OPTIONS)).status, 'NodeVersionStatusPending')
  })

  test('ends publications, moves and bans at once without a deadlock, and counts right', async () => {
    await place.addPublisher('busy')
    const nodes = ['n1', 'n2', 'n3', 'n4'].map((id) => `busy-${id}`)
    const ids = await Promise.all(
      nodes.map((nodeId) => place.addActive({ publisherId: 'busy', nodeId })),
    )
    const ban = (name: 'ban' | 'unban') =>
      database.sql.begin((sql) =>
        transitionPublisher(sql, { id: 'busy', name, reason: 'x', audit: AUDIT }),
      )
    await Promise.all(
      Array.from({ length: 10 }, (_, round) => [
        ...nodes.map((nodeId) =>
          place.publish({ publisherId: 'busy', nodeId, version: `2.${round}.0` }),
        ),
        ...ids.map((id) => place.transition(id, round % 2 ? 'admin_flag' : 'admin_activate')),
        ban(round % 2 ? 'unban' : 'ban'),
      ]).flat(),
    )
    await ban('unban')
    const { counted, real } = await readCounts(database)
    assert.deepEqual(counted, real)
  })
})
