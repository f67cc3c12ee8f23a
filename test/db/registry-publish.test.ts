import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { expireVersion } from '../../src/db/registry/archive.ts'
import { deleteNode, updateNodeByAdmin } from '../../src/db/registry/node-move.ts'
import { findNodeFacts, getNode } from '../../src/db/registry/node.ts'
import { movePublisher } from '../../src/db/registry/publisher-ban.ts'
import { getVersion } from '../../src/db/registry/version.ts'
import { AUDIT, OPTIONS, readCounts, useRegistryPlace } from './registry-place.ts'

describe('publishing', () => {
  const { database, place } = useRegistryPlace((place) => place.addPublisher('other', 'otto'))

  const countRows = async (nodeId: string): Promise<number> => {
    const [row] = await database.sql<{ n: number }[]>`
      select count(*)::integer as n from version where node_id = ${nodeId}
    `
    return row?.n ?? 0
  }
  const countStarts = async (id: string): Promise<number> => {
    const { count } = await database.sql`
      select from outbox where workflow_id = ${`publish-version/${id}`}
    `
    return count
  }
  const expire = (id: string) => database.sql.begin((sql) => expireVersion(sql, id))
  const makeLate = (id: string) => database.sql`
    update version set upload_expires_at = clock_timestamp() - interval '6 minutes' where id = ${id}
  `

  test('makes node, version, move and the start of the workflow', async () => {
    const published = await place.publish({
      nodeId: 'Fresh-Pack',
      fields: { repository: 'https://example.org/Fresh.git', tags: ['a'] },
      given: { changelog: 'first', dependencies: ['numpy'] },
    })
    assert.ok(published.result === 'published', published.result)
    const { version, uploadExpiresAt } = published
    assert.equal(await countStarts(version.id), 1)
    assert.ok(uploadExpiresAt.getTime() > Date.now() + 3_500_000, uploadExpiresAt.toISOString())
    assert.deepEqual([version.changelog, version.dependencies], ['first', ['numpy']])
    const node = await getNode(database.sql, 'FRESH-PACK', OPTIONS)
    assert.ok(!('latest_version' in node), 'no latest version')
    assert.deepEqual(
      { name: node.name, description: node.description, tags: node.tags, rating: node.rating },
      { name: 'Fresh-Pack', description: '', tags: ['a'], rating: 0 },
    )
    assert.deepEqual(Object.keys(node.publisher), ['id', 'name', 'status', 'createdAt'])
    const moves = await database.sql`
      select from_status, to_status, reason, actor from version_move where version_id = ${version.id}
    `
    assert.deepEqual(
      [...moves],
      [
        {
          from_status: null,
          to_status: 'NodeVersionStatusPending',
          reason: 'waiting for the archive',
          actor: 'user:olga',
        },
      ],
    )
  })

  test('makes one row of fifty publications of one version at once', async () => {
    const all = await Promise.all(
      Array.from({ length: 50 }, () => place.publish({ nodeId: 'parallel' })),
    )
    const ids = new Set(
      all.map((one) => (one.result === 'published' ? one.version.id : one.result)),
    )
    assert.equal(ids.size, 1)
    assert.equal(await countRows('parallel'), 1)
    const [id = ''] = ids
    assert.equal(await countStarts(id), 1)
  })

  test('gives the version that awaits its archive again, with new fields and a new deadline', async () => {
    const first = await place.publish({ nodeId: 'again', given: { changelog: 'one', tags: ['x'] } })
    const second = await place.publish({
      nodeId: 'AGAIN',
      version: '1.0.0+build',
      given: { changelog: 'two' },
      uploadSeconds: 7_200,
    })
    assert.ok(first.result === 'published' && second.result === 'published', second.result)
    assert.equal(second.version.id, first.version.id)
    assert.equal(second.version.node_id, 'again')
    assert.deepEqual(
      [second.version.version, second.version.changelog, second.version.tags],
      ['1.0.0+build', 'two', []],
    )
    assert.ok(second.uploadExpiresAt > first.uploadExpiresAt, 'a later deadline')
    assert.equal(await countStarts(first.version.id), 1)
  })

  test('refuses a version whose archive has arrived, and leaves the node as it was', async () => {
    const id = await place.addVersion({ nodeId: 'taken', fields: { description: 'before' } })
    await place.receive(id, 'bytes')
    const before = await findNodeFacts(database.sql, { id: 'taken', userId: undefined })
    const refused = await place.publish({ nodeId: 'taken', fields: { description: 'after' } })
    assert.deepEqual(refused, { result: 'version_exists', status: 'NodeVersionStatusPending' })
    assert.deepEqual(await findNodeFacts(database.sql, { id: 'taken', userId: undefined }), before)
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
      assert.equal(await countRows(nodeId), rows)
    })

  test('frees the number of a version that expired, and of none that was deleted', async () => {
    const first = await place.addVersion({ nodeId: 'expired' })
    assert.equal(await expire(first), false, 'while there is time left')
    await makeLate(first)
    assert.equal(await expire(first), true)
    assert.equal(await expire(first), false, 'twice')
    const gone = await getVersion(database.sql, first, OPTIONS)
    assert.deepEqual(
      [gone.status, gone.status_reason, gone.host_node_extract_status],
      ['NodeVersionStatusDeleted', 'archive was not uploaded in time', 'failed'],
    )
    const second = await place.addVersion({ nodeId: 'expired' })
    assert.notEqual(second, first)
    await place.move(second, 'delete')
    const third = await place.publish({ nodeId: 'expired' })
    assert.deepEqual(third, { result: 'version_exists', status: 'NodeVersionStatusDeleted' })
  })

  test('does not expire a version whose archive came after all', async () => {
    const id = await place.addVersion({ nodeId: 'late' })
    await place.receive(id, 'bytes')
    await makeLate(id)
    assert.equal(await expire(id), false)
    assert.equal((await getVersion(database.sql, id, OPTIONS)).status, 'NodeVersionStatusPending')
  })

  test('refuses the node of another publisher in every spelling, and what is deleted or banned', async () => {
    await place.addNode('Owned', {}, 'other')
    assert.equal((await place.publish({ nodeId: 'oWNED' })).result, 'node_owned_by_other_publisher')

    await place.addNode('to-delete')
    await database.sql.begin((sql) => deleteNode(sql, { publisherId: 'pub', id: 'TO-DELETE' }))
    assert.equal((await place.publish({ nodeId: 'to-delete' })).result, 'node_deleted')

    await place.addNode('to-ban')
    await database.sql.begin((sql) =>
      updateNodeByAdmin(
        sql,
        {
          id: 'to-ban',
          fields: { status: 'NodeStatusBanned', status_detail: 'bad' },
          audit: AUDIT,
        },
        OPTIONS,
      ),
    )
    assert.equal((await place.publish({ nodeId: 'to-ban' })).result, 'node_banned')

    await place.addPublisher('banned')
    await database.sql.begin((sql) =>
      movePublisher(sql, { id: 'banned', name: 'ban', reason: 'spam', audit: AUDIT }),
    )
    const refused = await place.publish({ publisherId: 'banned', nodeId: 'never' })
    assert.equal(refused.result, 'publisher_banned')
    assert.equal(await findNodeFacts(database.sql, { id: 'never', userId: undefined }), undefined)
    assert.equal(
      (await place.publish({ publisherId: 'nobody', nodeId: 'never' })).result,
      'publisher_not_found',
    )
  })

  test('ends publications, moves and bans at once without a deadlock, and counts right', async () => {
    await place.addPublisher('busy')
    const nodes = ['n1', 'n2', 'n3', 'n4'].map((id) => `busy-${id}`)
    const ids = await Promise.all(
      nodes.map((nodeId) => place.addActive({ publisherId: 'busy', nodeId })),
    )
    const ban = (name: 'ban' | 'unban') =>
      database.sql.begin((sql) =>
        movePublisher(sql, { id: 'busy', name, reason: 'x', audit: AUDIT }),
      )
    await Promise.all(
      Array.from({ length: 10 }, (_, round) => [
        ...nodes.map((nodeId) =>
          place.publish({ publisherId: 'busy', nodeId, version: `2.${round}.0` }),
        ),
        ...ids.map((id) => place.move(id, round % 2 ? 'admin_flag' : 'admin_activate')),
        ban(round % 2 ? 'unban' : 'ban'),
      ]).flat(),
    )
    await ban('unban')
    const { counted, real } = await readCounts(database)
    assert.deepEqual(counted, real)
  })
})
