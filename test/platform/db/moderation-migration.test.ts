import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { copyFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'

import { migrate } from '../../../src/platform/db/migrate.ts'
import { ROOT } from '../../../src/local/root.ts'
import { makeFolder } from '../../support/folder.ts'
import { createDatabase } from '../../support/stack.ts'

const MIGRATIONS = join(ROOT, 'src/platform/db/migrations')

test('the migration to moderation that lasts takes over bans and policies of versions', async (t) => {
  const database = await createDatabase()
  const { sql } = database
  const folder = await makeFolder(t, {})
  try {
    await sql`drop schema public cascade`
    await sql`create schema public`
    for (const name of await readdir(MIGRATIONS))
      if (name < '0029') await copyFile(join(MIGRATIONS, name), join(folder, name))
    await migrate(database.url, { folder: pathToFileURL(`${folder}/`) })
    await sql`insert into app_user (id, name) values ('olga', 'Olga')`
    await sql`insert into publisher (id, name, created_by) values ('pub', 'pub', 'olga')`
    await sql`insert into node (id, publisher_id, name) values ('a', 'pub', 'a'), ('b', 'pub', 'b')`
    const add = async (node: string, minor: number, status: string, path = 'x.py') => {
      const files = [
        { path: `${node}/${path}`, bytes: 300, sha256: 'c0de' },
        { path: `${node}/pyproject.toml`, bytes: 9, sha256: `${node}${minor}` },
      ]
      const id = randomUUID()
      await sql`
        insert into version (id, node_id, version, canonical, major, minor, patch, pre_key, status,
          status_reason, archive_state, upload_expires_at, published_by)
        values (${id}, ${node}, ${`1.${minor}.0`}, ${`1.${minor}.0`}, 1, ${minor}, 0, '~', ${status}, '',
          'accepted', now(), 'olga')
      `
      await sql`
        insert into archive (version_id, storage_key, sha256, bytes, files)
        values (${id}, '', ${id}, 1, ${sql.json(files)})
      `
      await sql`
        insert into version_move (version_id, at, to_status, reason, actor)
        values (${id}, now(), ${status}, '', 'user:root')
      `
      return id
    }
    const banned = await add('a', 0, 'NodeVersionStatusBanned')
    await add('b', 0, 'NodeVersionStatusPending')
    const flagged = await add('b', 1, 'NodeVersionStatusFlagged', 'y.py')
    await sql`
      insert into host_node_policy (version_id, host_node_name, policy)
      values (${banned}, 'X', 'HostNodePolicyBanned'), (${banned}, 'Y', 'HostNodePolicyLocalOnly')
    `
    await sql`insert into current_host_node (node_id, name) values ('a', 'X'), ('a', 'Y')`

    assert.ok((await migrate(database.url)).includes('0029_moderation.sql'))
    const policies = await sql`
      select node_id, host_node_name as name, policy from node_host_policy order by 2
    `
    assert.deepEqual(
      [...policies],
      [
        { node_id: 'a', name: 'X', policy: 'HostNodePolicyBanned' },
        { node_id: 'a', name: 'Y', policy: 'HostNodePolicyLocalOnly' },
      ],
    )
    const [found] = await sql`select names from node_host_names where node_id = 'a'`
    assert.deepEqual(found, { names: 'y' })
    const contents = await sql`select content, array_agg(version_id) as ids from archive group by 1`
    assert.equal(contents.length, 2, 'those of a and b are alike but for folder and project file')
    const bans = await sql<{ id: string }[]>`select version_id as id from banned_content`
    assert.deepEqual(bans.map(({ id }) => id).toSorted(), [banned, flagged].toSorted())
    assert.deepEqual(
      [...(await sql`select * from banned_file`)],
      [{ sha256: 'c0de', version_id: banned }],
    )
    // An api of the release before goes on writing the policies of versions.
    await sql`
      update host_node_policy set policy = 'HostNodePolicyActive' where host_node_name = 'Y'
    `
    const [lifted] = await sql`select policy from node_host_policy where host_node_name = 'Y'`
    assert.deepEqual(lifted, { policy: 'HostNodePolicyActive' })
  } finally {
    await database.drop()
  }
})
