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

test('the migration of the words of searches renews those of all nodes, and lets an older api write', async (t) => {
  const database = await createDatabase()
  const { sql } = database
  const folder = await makeFolder(t, {})
  try {
    await sql`drop schema public cascade`
    await sql`create schema public`
    for (const name of await readdir(MIGRATIONS))
      if (name < '0087') await copyFile(join(MIGRATIONS, name), join(folder, name))
    await migrate(database.url, { folder: pathToFileURL(`${folder}/`) })
    await sql`insert into app_user (id, name) values ('olga', 'Olga')`
    await sql`insert into publisher (id, name, created_by) values ('acme', 'Acme Tools', 'olga')`
    await sql`
      insert into node (id, publisher_id, name, description)
      select 'image-pack-' || i, 'acme', '图像修复工具', 'x' from generate_series(1, 50) i
    `
    await sql`insert into node_stats (node_id, created_at) select id, created_at from node`
    const version = randomUUID()
    await sql`
      insert into version (id, node_id, version, canonical, major, minor, patch, pre_key, status,
        status_reason, archive_state, upload_expires_at, published_by, host_node_extract_status)
      values (${version}, 'image-pack-1', '1.0.0', '1.0.0', 1, 0, 0, '~', 'NodeVersionStatusActive', '',
        'accepted', now(), 'olga', 'success')
    `
    await sql`
      insert into host_node (version_id, host_node_name, display_name)
      values (${version}, 'Blur', 'Soft Focus'), (${version}, 'Cut', 'Razor'), (${version}, 'Plain', null)
    `
    await sql`update node set latest_version_id = ${version} where id = 'image-pack-1'`
    await sql`
      insert into current_host_node (node_id, name) values ('image-pack-1', 'Blur'), ('image-pack-1', 'Plain')
    `
    const find = async (term: string, sort: string) => {
      const [row] = await sql<{ n: number }[]>`
        select count(*)::integer as n from node where words @@ search_query(${term}, ${sort})
      `
      return row?.n
    }
    assert.deepEqual([await find('修复', 'a'), await find('acme', 'b')], [0, 0])

    const changes = async () => (await sql`select from node_change`).length
    const before = await changes()
    assert.ok((await migrate(database.url)).includes('0088_search_words.sql'))
    for (const [term, sort, n] of [
      ['修复', 'a', 50],
      ['图像修复', 'a', 50],
      ['imagepack', 'a', 50],
      ['acme/image-pack-7', 'b', 1],
      ['soft focus', 'd', 1],
      ['plain image', 'd', 1],
      ['soft', 'c', 0],
    ] as const)
      assert.equal(await find(term, sort), n, term)
    // Counts of before are of no api that goes on.
    assert.equal(await changes(), before)
    const names = async () => pluckNames(await sql`select names from node_host_names`)
    assert.deepEqual(await names(), ['blur\u0001soft focus\u0001plain'])

    // An api of the release before goes on inserting names alone, and its changes are recorded.
    await sql`insert into current_host_node (node_id, name) values ('image-pack-1', 'Cut')`
    assert.deepEqual(await names(), ['blur\u0001soft focus\u0001cut\u0001razor\u0001plain'])
    assert.equal(await find('razor', 'd'), 1)
    await sql`delete from current_host_node`
    assert.deepEqual([await names(), await find('razor', 'd')], [[], 0])
    assert.ok((await changes()) > before)
  } finally {
    await database.drop()
  }
})

const pluckNames = (rows: readonly { names?: unknown }[]): unknown[] =>
  rows.map(({ names }) => names)
