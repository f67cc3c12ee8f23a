import type { Transaction } from '../../../src/platform/db/client.ts'
import type { TestDatabase } from '../../support/stack.ts'

/**
 * Fills the tables with a made-up catalogue, quicker than through the functions that publish. Half of the nodes have the
 * word `studio` in their name, every 400th `rareword` in its description; rankings and downloads have many ties.
 */
export const fillCatalogue = async (
  { sql }: Pick<TestDatabase, 'sql'>,
  { nodes, versionsPerNode = 2 }: { nodes: number; versionsPerNode?: number },
): Promise<void> => {
  await sql.begin(async (sql) => {
    // Thousands of rows with all their indexes take a busy machine longer than a test's statement may.
    await sql`set local statement_timeout = 0`
    await fill(sql, { nodes, versionsPerNode })
  })
}

const fill = async (
  sql: Transaction,
  { nodes, versionsPerNode }: { nodes: number; versionsPerNode: number },
): Promise<void> => {
  await sql`insert into app_user (id, name) values ('maker', 'maker')`
  await sql`
    insert into publisher (id, name, created_by)
    select 'maker-' || i, 'Maker ' || i, 'maker' from generate_series(0, 19) i
  `
  await sql`
    insert into node (id, publisher_id, name, author, description, tags, repository, supported_os,
      supported_accelerators, created_at, updated_at)
    select
      (array['ComfyUI', 'studio', 'my', 'the'])[1 + i % 4] || '-pack-' || i,
      'maker-' || i % 20,
      (array['Studio Tools', 'ImageMixer', 'Upscale 100%', 'studio_kit'])[1 + i % 4] || ' ' || i % 97,
      case when i % 3 = 0 then 'Ann Studio' end,
      'Makes ' || (array['images', 'video', 'sound'])[1 + i % 3]
        || case when i % 400 = 0 then ' rareword' else '' end,
      case when i % 5 = 0 then array['image', 'studio'] else '{}' end,
      'https://github.com/Maker' || i % 20 || '/Pack' || i || '.git',
      case when i % 50 = 0 then array['Plan 9'] when i % 7 = 0 then '{}'
        when i % 11 = 0 then array['Operating System :: OS Independent']
        when i % 13 = 0 then array['Microsoft :: Windows', 'Windows 11'] else array['Linux'] end,
      case when i % 60 = 0 then array['DirectML'] else array['CUDA'] end,
      timestamptz '2026-01-01' + make_interval(secs => i / 10),
      timestamptz '2026-01-01' + make_interval(secs => i / 10)
    from generate_series(1, ${nodes}) i
  `
  await sql`
    insert into node_stats (node_id, downloads, search_ranking, created_at)
    select id, length(name) % 3, 4 + length(id) % 2, created_at from node
  `
  await sql`
    insert into version (id, node_id, version, canonical, major, minor, patch, pre_key, status,
      status_reason, archive_state, upload_expires_at, published_by, created_at,
      host_node_extract_status)
    select gen_random_uuid(), n.id, '1.' || i || '.0', '1.' || i || '.0', 1, i, 0, '~',
      case when i = 1 and length(n.id) % 7 = 0 then 'NodeVersionStatusFlagged'
        else 'NodeVersionStatusActive' end,
      case when i = 1 and length(n.id) % 7 = 0 then '1 high finding in ' || n.id
        else 'Passed automated checks' end,
      'accepted', n.created_at, 'maker', n.created_at + make_interval(mins => i), 'success'
    from node n, generate_series(1, ${versionsPerNode}) i
  `
  await sql`
    update node n set latest_version_id = v.id
    from version v where v.node_id = n.id and v.minor = ${versionsPerNode}
  `
  await sql`
    insert into current_host_node (node_id, name)
    select id, 'Host Node ' || id from node where length(id) % 2 = 0
  `
  await sql`
    update listed_count set n = case kind
      when 'node' then ${nodes}::integer else ${nodes * versionsPerNode}::integer end
    where slot = 0
  `
  await sql`analyze`
}
