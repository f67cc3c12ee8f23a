import assert from 'node:assert/strict'
import { copyFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'

import { migrate } from '../../../src/platform/db/migrate.ts'
import { ROOT } from '../../../src/local/root.ts'
import { makeFolder } from '../../support/folder.ts'
import { createDatabase } from '../../support/stack.ts'

const MIGRATIONS = join(ROOT, 'src/platform/db/migrations')

test('the migration to channels makes an active release the latest version, and its host nodes those of the node', async (t) => {
  const database = await createDatabase()
  const { sql } = database
  const folder = await makeFolder(t, {})
  try {
    await sql`drop schema public cascade`
    await sql`create schema public`
    for (const name of await readdir(MIGRATIONS))
      if (name < '0091') await copyFile(join(MIGRATIONS, name), join(folder, name))
    await migrate(database.url, { folder: pathToFileURL(`${folder}/`) })
    await sql`insert into app_user (id, name) values ('olga', 'Olga')`
    await sql`insert into publisher (id, name, created_by) values ('acme', 'Acme', 'olga')`
    await sql`
      insert into node (id, publisher_id, name) values ('beside', 'acme', 'x'), ('alone', 'acme', 'x')
    `
    await sql`insert into node_stats (node_id, created_at) select id, created_at from node`
    await sql`
      insert into version (id, node_id, version, canonical, major, minor, patch, pre_key, deprecated, status,
        status_reason, archive_state, upload_expires_at, published_by, host_node_extract_status)
      select gen_random_uuid(), node_id, v, v, major, 0, 0, pre_key, deprecated, 'NodeVersionStatus' || status,
        '', 'accepted', now(), 'olga', 'success'
      from (values ('beside', '1.0.0', 1, '~', true, 'Active'), ('beside', '2.0.0', 2, '~', true, 'Active'),
        ('beside', '3.0.0-a', 3, '1a ', false, 'Active'), ('alone', '1.0.0', 1, '~', false, 'Flagged'),
        ('alone', '1.0.0-a', 1, '1a ', false, 'Active')) given (node_id, v, major, pre_key, deprecated, status)
    `
    await sql`
      insert into host_node (version_id, host_node_name, display_name)
      select id, name, 'Display of ' || version from version, unnest(array['Kept', 'Of ' || version]) name
    `
    await sql`
      update node n set latest_version_id = v.id from version v
      where v.node_id = n.id and v.pre_key <> '~'
    `
    await sql`
      insert into current_host_node (node_id, name, display_name)
      select v.node_id, host_node_name, display_name
      from version v join node n on n.latest_version_id = v.id join host_node h on h.version_id = v.id
    `
    const read = async () => {
      const nodes = await sql<{ id: string; version: string; names: string; rev: number }[]>`
        select n.id, v.version, n.rev, (
          select string_agg(name || ': ' || display_name, ', ' order by name) from current_host_node
          where node_id = n.id) as names
        from node n join version v on v.id = n.latest_version_id order by n.id
      `
      const [{ changes } = { changes: '' }] = await sql<{ changes: string }[]>`
        select sum(changes)::text as changes from listed_count
      `
      return { nodes: [...nodes], changes: Number(changes) }
    }
    const before = await read()
    assert.ok((await migrate(database.url)).includes('0091_channel.sql'))
    const { nodes, changes } = await read()
    const [alone, beside] = nodes
    assert.deepEqual(alone, before.nodes[0])
    assert.deepEqual(beside, {
      id: 'beside',
      version: '2.0.0',
      rev: Number(before.nodes[1]?.rev) + 1,
      names: 'Kept: Display of 2.0.0, Of 2.0.0: Display of 2.0.0',
    })
    assert.ok(changes > before.changes, 'counts of lists are made again')
  } finally {
    await database.drop()
  }
})
