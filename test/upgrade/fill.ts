import type { Sql } from '../../src/platform/db/client.ts'

const NODES = 20_000
const VERSIONS = 10

/** Fills a database at the schema of a release with tasks as they are after a year, and with a large registry. */
export const fill = async (sql: Sql, tasks: number): Promise<void> => {
  await sql.begin(async (sql) => {
    // Triggers and foreign keys were true when these rows were young.
    await sql`set local session_replication_role = replica`
    const rows = sql`generate_series(1, ${tasks}::integer) n`
    const id = sql`md5('growth ' || n)::uuid`
    const at = sql`now() - interval '1 day' - n * interval '30 seconds'`
    // One in a thousand is open.
    await sql`
      insert into task (id, family, kind, segment, owner, status, settings, webhook_url, last_sequence,
        created_at, last_moved_at, ended_at)
      select ${id}, 'image', 'relight', 'image-relight', 'owner-' || n % 5000,
        case when n % 1000 = 0 then 'CREATED' else 'COMPLETED' end, '{}', 'https://receiver.example.com/', 3,
        ${at}, ${at}, case when n % 1000 > 0 then ${at} end
      from ${rows}
    `
    // Of the open ones the last event waits for its first attempt, of some others for a further one.
    await sql`
      insert into event (task_id, sequence, status, deliver, created_at, state, failures)
      select ${id}, sequence, 'COMPLETED', true, ${at},
        case when sequence = 3 and n % 500 = 0 then 'pending' else 'delivered' end, n % 1000 / 500
      from ${rows}, generate_series(1, 3) sequence
    `
    await fillRegistry(sql as unknown as Sql)
  })
  await sql`vacuum analyze`
}

const fillRegistry = async (sql: Sql): Promise<void> => {
  const nodes = sql`generate_series(1, ${NODES}::integer) n`
  await sql`insert into app_user (id, name) values ('alice', 'Alice')`
  await sql`
    insert into publisher (id, name, created_by) select 'publisher-' || n, 'P', 'alice' from generate_series(1, 1000) n
  `
  await sql`
    insert into node (id, publisher_id, name, description)
    select 'node-' || n, 'publisher-' || n % 1000 + 1, 'Node ' || n, 'sharpens pictures' from ${nodes}
  `
  await sql`insert into node_stats (node_id, created_at) select 'node-' || n, now() from ${nodes}`
  await sql`
    insert into current_host_node (node_id, name)
    select 'node-' || n, 'HostNode' || n || '_' || k from ${nodes}, generate_series(1, 10) k
  `
  await sql`
    insert into version (id, node_id, version, canonical, major, minor, patch, pre_key, status, status_reason,
      host_node_extract_status, extract_source, archive_state, upload_expires_at, published_by)
    select md5('version ' || n || ' ' || k)::uuid, 'node-' || n, '1.0.' || k, '1.0.' || k, 1, 0, k, '~',
      'NodeVersionStatusActive', 'passed', 'success', 'derived', 'accepted', now(), 'alice'
    from ${nodes}, generate_series(1, ${VERSIONS}::integer) k
  `
  await sql`
    insert into host_node (version_id, host_node_name)
    select id, 'HostNode' || k from version, generate_series(1, 3) k
  `
}
